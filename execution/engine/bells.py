"""The doorbell: a Celery message that names a queue, never a run.

Lost, doubled or late bells change nothing but the time: the steward rings again.
"""

import logging
import threading
import time
from dataclasses import dataclass, field

from django.conf import settings
from django.db.models import Count
from django.db.models.functions import Now

from core.doorbell import bell_send
from execution.models import Run, Status

log = logging.getLogger(__name__)

BELL = "toolhub.bell"
# What was rung so long ago and changed nothing may be lost: it is rung again.
AGAIN_S = 15
# Runs that are accepted within so many seconds are rung for together.
WINDOW_S = 0.1


def ring(queue: str) -> bool:
    """Tells one idle worker of the queue that something is due; false when the broker does not answer."""
    return bell_send(BELL, queue, [queue])


@dataclass
class _Window:
    """A short time in which one queue was rung for; monotonic seconds."""

    ends: float
    rung: int = 0
    owed: int = 0


class Ringer:
    """Rings for runs as they are accepted, in a crowd no more often than workers can make use of.

    In each window as many bells ring at once as a worker has slots. What comes on top is rung for at the
    window's end, together: a worker that hears a bell carries out all that is due.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._windows: dict[str, _Window] = {}
        self._thread: threading.Thread | None = None

    def ring_for_one(self, queue: str) -> None:
        """Tells a worker now, or soon, that one more run is due."""
        with self._lock:
            now = time.monotonic()
            window = self._windows.get(queue)
            if window is None or (now > window.ends and not window.owed):
                window = self._windows[queue] = _Window(now + WINDOW_S)
            at_once = window.rung < settings.WORKERS
            if at_once:
                window.rung += 1
            else:
                window.owed += 1
                self._keep()
        if at_once:
            ring(queue)

    def _keep(self) -> None:
        """A thread that lives, while bells are owed; none comes through a fork."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._pay, name="bells", daemon=True)
            self._thread.start()

    def _pay(self) -> None:
        while True:
            time.sleep(WINDOW_S)
            with self._lock:
                owed = {queue: window.owed for queue, window in self._windows.items() if window.owed}
                if not owed:
                    self._thread = None
                    return
                ends = time.monotonic() + WINDOW_S
                for queue, count in owed.items():
                    owed[queue] = min(count, settings.WORKERS)
                    self._windows[queue] = _Window(ends, rung=owed[queue])
            for queue, count in owed.items():
                for _ in range(count):
                    ring(queue)


RINGER = Ringer()


@dataclass
class Bells:
    """Tops the bells up to min(due, slots) per queue, without ringing on while nobody could hear.

    A bell of ours counts as outstanding until the number of due runs fell below it, or it got old.
    """

    slots: int
    _rung: dict[str, tuple[int, float]] = field(default_factory=dict)

    def top_up(self) -> int:
        """Rings; returns how many bells."""
        rows = (
            Run.objects.filter(status=Status.PENDING, inline=False, due_at__lte=Now())
            .order_by()
            .values("queue")
            .annotate(due=Count("pk"))
        )
        due = {row["queue"]: row["due"] for row in rows}
        self._rung = {queue: known for queue, known in self._rung.items() if queue in due}
        return sum(self._ring(queue, many) for queue, many in due.items())

    def _ring(self, queue: str, due: int) -> int:
        now = time.monotonic()
        wanted = min(due, self.slots)
        outstanding, at = self._rung.get(queue, (0, 0.0))
        outstanding = 0 if now - at > AGAIN_S else min(outstanding, due)
        missing = max(0, wanted - outstanding)
        rung = sum(ring(queue) for _ in range(missing))
        if rung:
            self._rung[queue] = (outstanding + rung, now)
        return rung
