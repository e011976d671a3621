"""Places where a fault test kills the process, just before or after a commit.

TOOLHUB_FAILPOINT is `place@file`, or several of them with spaces between, for that process and its children
only: whoever comes to a place and removes its file ends at once, as by a power cut. The file makes it happen
once. Unset, as always but in such a test, a call costs one look.
"""

import os
import signal

_FILES = dict(word.split("@", 1) for word in os.environ.get("TOOLHUB_FAILPOINT", "").split())


def failpoint(place: str) -> None:
    """Ends this process when the place was chosen, and its file is there."""
    if not _FILES or place not in _FILES:
        return
    try:
        os.unlink(_FILES[place])
    except FileNotFoundError:
        return
    os.kill(os.getpid(), signal.SIGKILL)
