"""Room in a queue: how many runs may wait, counted no more often than it needs."""

import threading
import time

from django.conf import settings

from core.errors import Overloaded
from execution.models import Run, Status
from execution.runs import hotpath

RETRY_AFTER_S = 5
WAITING = (Status.PENDING, Status.WAITING_RETRY)
# A count serves for so many seconds, and for this share of the room that it found: other processes
# accept as well.
SERVES_S = 0.25
SHARE = 16


class Room:
    """What this process may accept into each queue without counting again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # By queue and bound: places left without counting, and until when (monotonic seconds).
        self._left: dict[tuple[str, int], tuple[int, float]] = {}

    def take(self, queue: str) -> None:
        """Takes a place. Raises Overloaded when QUEUE_MAX runs wait already.

        A place for what is then not written (its call is made anew, and takes another) only brings the next
        count nearer: a call is refused by a count alone.
        """
        most = settings.QUEUE_MAX
        with self._lock:
            left, until = self._left.get((queue, most), (0, 0.0))
            if left > 0 and time.monotonic() < until:
                self._left[queue, most] = left - 1, until
                return
        room = most - _waiting(queue, most)
        with self._lock:
            self._left[queue, most] = room // SHARE, time.monotonic() + SERVES_S
        if room <= 0:
            raise Overloaded(f"{most} runs wait already.", retry_after=RETRY_AFTER_S)


ROOM = Room()


def _waiting(queue: str, most: int) -> int:
    """How many runs wait; no further than about `most`."""
    if hotpath.is_served():
        return hotpath.waiting_count(queue, most)
    rows = Run.objects.filter(queue=queue, status__in=WAITING).order_by().values("pk")
    return rows[:most].count()
