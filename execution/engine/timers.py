"""Acts that this process does at a time, from one thread; what is lost with it, a steward does."""

import heapq
import itertools
import logging
import os
import threading
import time
from collections.abc import Callable

from django.db import connection

log = logging.getLogger(__name__)


class Timers:
    """Acts that are due later, by the monotonic clock. The thread lives while there are some."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._thread: threading.Thread | None = None

    def after(self, seconds: float, act: Callable[[], None]) -> None:
        """Have `act` done in so many seconds. What it raises is logged."""
        with self._changed:
            heapq.heappush(self._due, (time.monotonic() + seconds, next(self._numbers), act))
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, name="timers", daemon=True)
                self._thread.start()
            self._changed.notify()

    def _work(self) -> None:
        while act := self._next():
            try:
                act()
            except Exception:
                log.exception("what was due could not be done; a steward does it")
            finally:
                connection.close()

    def _next(self) -> Callable[[], None] | None:
        """The act whose time has come; None, and no thread any more, where there is none to wait for."""
        with self._changed:
            while self._due:
                left = self._due[0][0] - time.monotonic()
                if left <= 0:
                    return heapq.heappop(self._due)[2]
                self._changed.wait(left)
            self._thread = None
            return None


TIMERS = Timers()


def _anew() -> None:
    """Threads do not live on in a forked process, and what is due is its parent's."""
    global TIMERS  # noqa: PLW0603 - one for the process
    TIMERS = Timers()


os.register_at_fork(after_in_child=_anew)
