"""The heartbeat: one thread per process extends the leases of all its runs, and another watches over it."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.db import Error, close_old_connections, connection
from django.db.models import F
from django.db.models.functions import Now

from execution.engine.call import Call
from execution.engine.lease import Lease
from execution.models import Run, Status

log = logging.getLogger(__name__)
# A tool is stopped this long before its lease can end.
MARGIN_S = 5.0
# So often the heart looks whether a cancel was asked, in seconds.
LOOK_S = 0.5


@dataclass
class _Held:
    """A lease that is kept: its run, its work, and when it was last extended (monotonic seconds)."""

    run_id: UUID
    call: Call
    extended: float


class Heart:
    """Keeps leases. A lost lease sets `call.lost`, and it or a cancel that was asked `call.cancelled`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[UUID, _Held] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._woken = threading.Event()

    @contextmanager
    def beating(self, lease: Lease, call: Call) -> Iterator[None]:
        """Keeps the lease while the block runs."""
        with self._lock:
            self._held[lease.token] = _Held(lease.run.pk, call, time.monotonic())
            # The second never asks the database, which may keep the first waiting for long.
            self._keep("heart", self._beat)
            self._keep("heart watch", self._watch)
            self._woken.set()
        try:
            yield
        finally:
            with self._lock:
                del self._held[lease.token]
                if not self._held:
                    self._woken.clear()

    def _keep(self, name: str, loop: Callable[[], None]) -> None:
        """Starts a thread that does not live, be it that this process was forked from another."""
        if name not in self._threads or not self._threads[name].is_alive():
            self._threads[name] = threading.Thread(target=loop, name=name, daemon=True)
            self._threads[name].start()

    def _pauses(self) -> Iterator[None]:
        """A pause, again and again while there is work."""
        while self._woken.wait():
            time.sleep(min(LOOK_S, settings.LEASE_S / 6))
            yield

    def _beat(self) -> None:
        for _ in self._pauses():
            with self._lock:
                held = dict(self._held)
            if not held:
                continue
            try:
                self._look(held)
            except Error:
                log.warning("the heartbeat did not reach the database")
                close_old_connections()
            if "pool" in connection.settings_dict["OPTIONS"]:
                connection.close()  # back to the pool between two looks

    def _watch(self) -> None:
        for _ in self._pauses():
            self._stop_overdue()

    def _look(self, held: dict[UUID, _Held]) -> None:
        """Extends the leases that are due for it, and hears of cancels and of leases that are lost."""
        mine = Run.objects.filter(
            pk__in=[one.run_id for one in held.values()], lease_token__in=list(held), status=Status.RUNNING
        )
        now = time.monotonic()
        if any(now - one.extended >= settings.LEASE_S / 6 for one in held.values()):
            mine.update(beats=F("beats") + 1, beat_at=Now())
            extended = True
        else:
            extended = False
        asked = dict(mine.values_list("lease_token", "cancel_asked_at"))
        with self._lock:
            for token, one in held.items():
                if token not in self._held:
                    continue
                if token not in asked:
                    one.call.stop(lost=True)
                elif asked[token]:
                    one.call.stop(lost=False)
                if extended and token in asked:
                    one.extended = now

    def _stop_overdue(self) -> None:
        """Without a beat until shortly before the lease ends, the tool is told to stop."""
        limit = max(settings.LEASE_S - MARGIN_S, settings.LEASE_S / 2)
        with self._lock:
            for one in self._held.values():
                if time.monotonic() - one.extended > limit:
                    one.call.stop(lost=True)


HEART = Heart()
