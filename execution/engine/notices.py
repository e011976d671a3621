"""Notices that something happened to a run, for those who wait in other processes.

PostgreSQL lets one transaction at a time commit a NOTIFY, through its wait for the disk. So a run's own
transaction sends none: after its commit one thread per process does, many runs with one statement. A notice
that is lost with its process costs its waiters only time: they look for themselves (waiters.LOOK_S).
SQLite's waiters see the commit itself.
"""

import atexit
import contextlib
import logging
import os
import threading
import time
from queue import Empty, SimpleQueue
from typing import Any
from uuid import UUID

from django.db import connection, connections, transaction

log = logging.getLogger(__name__)

CHANNEL = "toolhub_run"
# So many runs with one statement; so long the thread keeps its connection without work, in s.
BATCH, IDLE_S = 500, 60.0
# A notice goes out at once; those that come within so many seconds after it go together.
PAUSE_S = 0.02
# A process that ends lets its last notices out for so long, in s.
FAREWELL_S = 1.0
_SEND = "SELECT pg_notify(%s, id) FROM unnest(%s::text[]) AS id"


class _Sender:
    """Sends what is given, from a thread that lives as long as the process."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[UUID] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._idle = threading.Event()

    def give(self, run_id: UUID) -> None:
        """Has a run's notice sent soon."""
        self._idle.clear()
        self._queue.put(run_id)
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._work, name="notices", daemon=True)
                    self._thread.start()

    def farewell(self) -> None:
        """Waits a little until all is sent."""
        if self._thread is not None:
            self._idle.wait(FAREWELL_S)

    def _work(self) -> None:
        while True:
            first = self._queue.get()
            try:
                self._send_while_busy(first)
            except Exception:
                log.exception("notices of runs could not be sent; who waits looks for itself")

    def _send_while_busy(self, run_id: UUID) -> None:
        # A new wrapper, so that this thread's connection is neither pooled nor anybody else's.
        own = connections["default"].copy()
        own.settings_dict = {**own.settings_dict, "OPTIONS": {}, "CONN_MAX_AGE": None}
        own.inc_thread_sharing()
        try:
            own.ensure_connection()
            # A notice needs no disk.
            own.connection.execute("SET synchronous_commit = off")
            with contextlib.suppress(Empty):
                while True:
                    self._send(own.connection, self._batch(run_id))
                    time.sleep(PAUSE_S)
                    run_id = self._queue.get(timeout=IDLE_S)
        finally:
            own.close()

    def _batch(self, first: UUID) -> list[str]:
        found = [str(first)]
        with contextlib.suppress(Empty):
            while len(found) < BATCH:
                found.append(str(self._queue.get_nowait()))
        return found

    def _send(self, raw: Any, batch: list[str]) -> None:
        raw.execute(_SEND, [CHANNEL, batch])
        if self._queue.empty():
            self._idle.set()


_sender = _Sender()


def _anew() -> None:
    """Threads and connections do not live on in a forked process."""
    global _sender  # noqa: PLW0603 - one for the process
    _sender = _Sender()


os.register_at_fork(after_in_child=_anew)
atexit.register(lambda: _sender.farewell())  # noqa: PLW0108 - of the sender that is there then


def run_wake(run_id: UUID) -> None:
    """Tells waiters in all processes, once the caller's transaction is committed."""
    if connection.vendor == "postgresql":
        transaction.on_commit(lambda: _sender.give(run_id))
