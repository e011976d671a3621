"""The steward's duties, each under its own lock, so that any number of stewards may run."""

import logging
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

from django.conf import settings
from django.db import DatabaseError, close_old_connections, connection, transaction
from django.db.models import Count
from django.db.models.functions import Now

from audit.denials import denials_flush
from execution.models import IdempotencyKey, Run, Status
from execution.runs.bells import EXPIRES_S, ring
from execution.runs.reaper import inline_release, retries_due, runs_reap

log = logging.getLogger(__name__)


@dataclass
class Bells:
    """Tops the bells up to min(due, slots) per queue, without ringing on while nobody could hear.

    A bell of ours counts as outstanding until the number of due runs fell below it, or it expired.
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
        rung = 0
        for row in rows:
            rung += self._ring(row["queue"], row["due"])
        return rung

    def _ring(self, queue: str, due: int) -> int:
        now = time.monotonic()
        wanted = min(due, self.slots)
        outstanding, at = self._rung.get(queue, (0, 0.0))
        if now - at > EXPIRES_S / 4:
            outstanding = 0
        missing = max(0, wanted - outstanding)
        rung = sum(ring(queue) for _ in range(missing))
        if rung:
            self._rung[queue] = (outstanding + rung, now)
        return rung


@dataclass(frozen=True)
class Duty:
    """Something the steward does every `every` seconds, one steward at a time."""

    name: str
    every: float
    act: Callable[[], int]


def _keys_expire() -> int:
    deleted, _ = IdempotencyKey.objects.filter(expires_at__lt=Now()).delete()
    return deleted


def duties() -> list[Duty]:
    """All duties. A new one is a line here."""
    return [
        Duty("bells", 1.0, Bells(settings.WORKERS).top_up),
        Duty("reaper", 1.0, runs_reap),
        Duty("retries", 1.0, retries_due),
        Duty("inline", 10.0, inline_release),
        Duty("denials", 10.0, denials_flush),
        Duty("keys", 600.0, _keys_expire),
    ]


def duty_perform(duty: Duty) -> int | None:
    """Performs a duty under its lock; None when another steward is at it."""
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                # The lock's number is stable over processes and versions.
                cursor.execute(
                    "SELECT pg_try_advisory_xact_lock(%s)", [zlib.crc32(f"duty:{duty.name}".encode())]
                )
                if not cursor.fetchone()[0]:
                    return None
        return duty.act()


def steward_run(stop: threading.Event) -> None:
    """Performs the duties when they are due, until `stop` is set. A failed duty is logged and tried again."""
    all_duties = duties()
    due = {duty.name: 0.0 for duty in all_duties}
    while not stop.is_set():
        for duty in all_duties:
            if time.monotonic() < due[duty.name]:
                continue
            due[duty.name] = time.monotonic() + duty.every
            try:
                duty_perform(duty)
            except DatabaseError:
                log.exception("duty %s failed", duty.name)
                close_old_connections()
        stop.wait(0.2)
