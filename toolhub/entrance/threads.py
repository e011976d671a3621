"""The threads that serve requests: started when they are needed, up to a number."""

import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue

log = logging.getLogger(__name__)
Work = Callable[[], None]


class WorkThreads:
    """At most `most` threads; work beyond them waits in order."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._queue: SimpleQueue[Work] = SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._count = 0

    def submit(self, work: Work) -> None:
        """Queue `work`. Called by one thread only."""
        self._queue.put(work)
        if self._count < self._most and not self._idle.acquire(blocking=False):
            self._count += 1
            threading.Thread(target=self._serve, name=f"work-{self._count}", daemon=True).start()

    def _serve(self) -> None:
        while True:
            work = self._queue.get()
            try:
                work()
            except BaseException:
                log.exception("a request could not be served")
            # Once all threads run, nobody asks any more.
            if self._count < self._most:
                self._idle.release()
