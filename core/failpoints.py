"""Places where a fault test kills the process, just before or after a commit.

TOOLHUB_FAILPOINT names one of them, for that process only. Unset, as always but in such a test,
a call costs one comparison.
"""

import os
import signal

_CHOSEN = os.environ.get("TOOLHUB_FAILPOINT", "")


def failpoint(name: str) -> None:
    """Ends this process at once, as a power cut would, when it is the chosen place."""
    if _CHOSEN and name == _CHOSEN:
        os.kill(os.getpid(), signal.SIGKILL)
