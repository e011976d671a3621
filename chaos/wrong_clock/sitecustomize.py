"""Python finds this first in a process whose clock is wrong, before anything else is imported.

libfaketime refuses to sleep until a point of the monotonic clock, which is how Python sleeps.
"""

import select
import time


def sleep(seconds: float) -> None:
    """Sleeps so many seconds, by another call of the system."""
    select.select([], [], [], seconds)


time.sleep = sleep  # type: ignore[assignment]
