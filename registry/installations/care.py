"""The steward's part: installations whose worker died, bells that nobody heard, what was left behind."""

from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from audit.ledger import Entry, record
from core.actors import SYSTEM
from core.clock import lease_boot, lease_now
from core.errors import error_object
from registry.installations.bells import Reminder, ring_after_commit
from registry.installations.cleaning import staged_remove
from registry.installations.models import Installation, Staged, Status

ATTEMPTS_MAX = 3
REMINDER = Reminder()
# What a failed installation has fetched is kept so long for another try.
KEPT = timedelta(days=1)


def installations_care() -> int:
    """Queues what lost its worker, ends what did so too often, and rings; returns how many it touched."""
    with transaction.atomic():
        lost = list(
            Installation.objects.select_for_update()
            .filter(status=Status.RUNNING)
            .filter(Q(lease_ends__lt=lease_now()) | ~Q(lease_boot=lease_boot()))
        )
        for one in lost:
            _recover(one)
        if lost:
            ring_after_commit()
        elif Installation.objects.filter(status=Status.QUEUED).exists():
            REMINDER.ring_after_commit()
    return len(lost)


def _recover(one: Installation) -> None:
    one.lease_token = None
    if one.cancel_asked_at is not None or one.attempt >= ATTEMPTS_MAX:
        cancelled = one.cancel_asked_at is not None
        one.status, one.finished_at = (Status.CANCELLED if cancelled else Status.FAILED), timezone.now()
        words = "The installation was cancelled." if cancelled else "Its worker died, three times."
        one.error = error_object("CANCELLED" if cancelled else "WORKER_LOST", words)
        kind = "installation.cancelled" if cancelled else "installation.failed"
        data = {"step": one.step, "code": one.error["code"], "package": one.package, "version": one.version}
        record(Entry(kind, SYSTEM, "installation", str(one.pk), data))
        if cancelled:
            staged_remove(one)
    else:
        one.status = Status.QUEUED
    one.save(update_fields=["status", "lease_token", "finished_at", "error"])


def installations_tidy() -> int:
    """Removes what old failed installations fetched; returns how many those were."""
    old = Installation.objects.filter(
        status=Status.FAILED, finished_at__lt=timezone.now() - KEPT, pk__in=Staged.objects.values("pk")
    )[:100]
    done = 0
    for one in old:
        with transaction.atomic():
            # It may have been taken up again meanwhile.
            if Installation.objects.select_for_update().filter(pk=one.pk, status=Status.FAILED).exists():
                staged_remove(one)
                done += 1
    return done
