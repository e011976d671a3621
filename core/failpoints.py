"""Places where a fault test kills the process, just before or after a commit.

TOOLHUB_FAILPOINT is `place@file`, for that process and its children only: whoever comes to the
place and removes the file ends at once, as by a power cut. The file makes it happen once. Unset,
as always but in such a test, a call costs one comparison.
"""

import os
import signal

_PLACE, _, _FILE = os.environ.get("TOOLHUB_FAILPOINT", "").partition("@")


def failpoint(place: str) -> None:
    """Ends this process when it is the chosen place, and the first time."""
    if not _PLACE or place != _PLACE:
        return
    try:
        os.unlink(_FILE)
    except FileNotFoundError:
        return
    os.kill(os.getpid(), signal.SIGKILL)
