"""The heartbeat: one thread per process extends the leases of all its runs."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, close_old_connections, connection

from core.clock import lease_boot, lease_now
from execution.models import Run, Status
from execution.runners.call import Call
from execution.runs.claim import Lease

log = logging.getLogger(__name__)
# A tool is stopped this long before its lease can end.
MARGIN_S = 5.0


class Heart:
    """Beats for the leases it holds. A lost lease, or a cancel that was asked, sets `call.cancelled`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[UUID, tuple[Call, float]] = {}
        self._thread: threading.Thread | None = None
        self._woken = threading.Event()

    @contextmanager
    def beating(self, lease: Lease, call: Call) -> Iterator[None]:
        """Keeps the lease while the block runs."""
        with self._lock:
            self._held[lease.token] = (call, time.monotonic())
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="heart", daemon=True)
                self._thread.start()
        self._woken.set()
        try:
            yield
        finally:
            with self._lock:
                del self._held[lease.token]
                if not self._held:
                    self._woken.clear()

    def _run(self) -> None:
        beat = settings.LEASE_S / 6
        while self._woken.wait():
            time.sleep(beat)
            with self._lock:
                tokens = list(self._held)
            if tokens:
                self._beat(tokens)

    def _beat(self, tokens: list[UUID]) -> None:
        try:
            alive = self._extend(tokens)
        except DatabaseError:
            log.warning("the heartbeat did not reach the database")
            close_old_connections()
            self._stop_overdue()
            return
        now = time.monotonic()
        with self._lock:
            for token in tokens:
                if token not in self._held:
                    continue
                call, _ = self._held[token]
                self._held[token] = (call, now)
                if alive.get(token, True):
                    call.cancelled.set()

    def _extend(self, tokens: list[UUID]) -> dict[UUID, bool]:
        """Extends the leases; per token that still holds: whether its cancel was asked."""
        mine = Run.objects.filter(lease_token__in=tokens, status=Status.RUNNING)
        mine.update(lease_ends=lease_now() + settings.LEASE_S, lease_boot=lease_boot())
        rows = mine.values_list("lease_token", "cancel_asked_at")
        found = {token: asked is not None for token, asked in rows if token}
        if connection.vendor == "postgresql" and not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()
        return found

    def _stop_overdue(self) -> None:
        """Without a beat until shortly before the lease ends, the tool is told to stop."""
        limit = max(settings.LEASE_S - MARGIN_S, settings.LEASE_S / 2)
        with self._lock:
            for call, last in self._held.values():
                if time.monotonic() - last > limit:
                    call.cancelled.set()


HEART = Heart()
