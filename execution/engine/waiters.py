"""Waiting for a run's outcome without holding a database connection.

One thread per web process hears of finished runs: by LISTEN on PostgreSQL, by polling
`data_version` on SQLite. Waiters are bounded.
"""

import logging
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connection, connections

from execution.engine.notices import CHANNEL
from execution.engine.states import SETTLED
from execution.models import Run

log = logging.getLogger(__name__)

SQLITE_POLL_S = 0.02
# A notice can be lost with its connection; so each waiter looks for itself now and then.
LOOK_S = 5.0
# What Retry-After says, in seconds. While nobody more may wait, it is spread around the second; the more are
# turned away in a minute, the later: a process is to be asked again some ten times a second, not more.
SOON_S = 1
LATER_S, LATEST_S, AGAIN_RATE = 20, 120, 10


class Waiters:
    """The waiters of this process. Any notice wakes the run's waiters; they look at the row themselves."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: dict[UUID, list[threading.Event]] = {}
        # When callers were turned away, monotonic seconds.
        self._refused: deque[float] = deque(maxlen=10_000)
        self._busy = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def _registered(self, run_id: UUID) -> Iterator[threading.Event | None]:
        event = threading.Event()
        with self._lock:
            full = self._is_full()
            if not full:
                self._events.setdefault(run_id, []).append(event)
                self._busy.set()
                self._start()
            else:
                self._refused.append(time.monotonic())
        if full:
            yield None
            return
        try:
            yield event
        finally:
            with self._lock:
                self._events[run_id].remove(event)
                if not self._events[run_id]:
                    del self._events[run_id]
                if not self._events:
                    self._busy.clear()

    def wait(self, run_id: UUID, seconds: float, ready: Callable[[UUID], bool] | None = None) -> bool:
        """Returns once the run is `ready` (default: settled), or after `seconds`.

        False when too many wait already.
        """
        ready = ready or _finished
        ends = time.monotonic() + seconds
        with self._registered(run_id) as event:
            if event is None:
                return False
            while not _given_back(ready, run_id):
                left = ends - time.monotonic()
                if left <= 0:
                    break
                event.wait(min(left, LOOK_S))
                event.clear()
        return True

    def retry_after_s(self) -> int:
        """When a caller does best to ask again: soon, or, where nobody more may wait, by chance much later.

        A crowd that asks each second would cost more than one that waits.
        """
        now = time.monotonic()
        with self._lock:
            if not self._is_full():
                return SOON_S
            while self._refused and self._refused[0] < now - 60:
                self._refused.popleft()
            later = min(LATEST_S, max(LATER_S, len(self._refused) // AGAIN_RATE))
        return random.randint(later // 2, later * 3 // 2)  # noqa: S311 - to spread them

    def _is_full(self) -> bool:
        return sum(map(len, self._events.values())) >= settings.WAITERS_MAX

    def _start(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            target = self._listen if connection.vendor == "postgresql" else self._poll
            self._thread = threading.Thread(target=target, name="waiters", daemon=True)
            self._thread.start()

    def _wake(self, run_id: UUID | None) -> None:
        with self._lock:
            if run_id is None:
                events = [event for group in self._events.values() for event in group]
            else:
                events = list(self._events.get(run_id, ()))
        for event in events:
            event.set()

    def _listen(self) -> None:
        """PostgreSQL: a connection of its own, outside the pool."""
        while self._busy.wait():
            try:
                self._listen_once()
            except Exception:
                log.exception("listening for finished runs failed; trying again")
                self._wake(None)
                time.sleep(LOOK_S)

    def _listen_once(self) -> None:
        # A new wrapper, so that this thread's connection is neither pooled nor anybody else's.
        own = connections["default"].copy()
        own.settings_dict = {**own.settings_dict, "OPTIONS": {}, "CONN_MAX_AGE": None}
        own.inc_thread_sharing()
        try:
            own.ensure_connection()
            raw = own.connection
            raw.execute(f"LISTEN {CHANNEL}")
            self._wake(None)
            while True:
                for notice in raw.notifies(timeout=LOOK_S, stop_after=1):
                    self._wake(UUID(notice.payload))
        finally:
            own.close()

    def _poll(self) -> None:
        """SQLite: `data_version` changes with every commit of another connection."""
        seen = None
        try:
            while self._busy.wait():
                with connection.cursor() as cursor:
                    cursor.execute("PRAGMA data_version")
                    version = cursor.fetchone()[0]
                if version != seen:
                    seen = version
                    self._wake(None)
                time.sleep(SQLITE_POLL_S)
        except DatabaseError:
            log.exception("polling for finished runs failed")
        finally:
            connection.close()


WAITERS = Waiters()


def _finished(run_id: UUID) -> bool:
    """Whether the run is settled: it has its outcome, or that is unknown."""
    return Run.objects.filter(pk=run_id, status__in=SETTLED).exists()


def _given_back(ready: Callable[[UUID], bool], run_id: UUID) -> bool:
    """Asks, and gives the connection back at once: a waiter holds none."""
    try:
        return ready(run_id)
    finally:
        if not connection.in_atomic_block:
            connection.close()
