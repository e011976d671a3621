"""The steward's part: installations whose worker died, bells that nobody heard, what was left behind."""

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from audit.ledger import Entry, record
from core.actors import SYSTEM
from core.clock import lease_boot, lease_now
from core.duties.rows import delete, each
from core.errors import error_object
from registry.event_kinds import INSTALLATION_CANCELLED, INSTALLATION_EXPIRED, INSTALLATION_FAILED
from registry.installations.bells import Reminder, ring_after_commit
from registry.installations.cleaning import failed_bound, failed_remove, staged_remove
from registry.installations.models import Installation, Staged, Status
from registry.installations.selectors import going_on
from registry.installations.steps import steps_stop
from registry.models import Archive, Release

ATTEMPTS_MAX = 3
REMINDER = Reminder()
# What a failed installation has fetched is kept so long for another try.
KEPT = timedelta(days=1)


def installations_care() -> int:
    """Queues what lost its worker, ends what did so too often, and rings; returns how many it touched."""
    recovered = each("installations", _lost(), _recover)
    if not recovered and Installation.objects.filter(status=Status.QUEUED).exists():
        REMINDER.ring_after_commit()
    return recovered


def _lost() -> QuerySet[Installation]:
    over = Q(lease_ends__lt=lease_now()) | ~Q(lease_boot=lease_boot())
    return Installation.objects.filter(over, status=Status.RUNNING)


def _recover(pk: UUID) -> bool:
    one = _lost().select_for_update().filter(pk=pk).first()
    if one is None:
        return False
    one.lease_token = None
    if one.cancel_asked_at is not None or one.attempt >= ATTEMPTS_MAX:
        cancelled = one.cancel_asked_at is not None
        one.status, one.finished_at = (Status.CANCELLED if cancelled else Status.FAILED), timezone.now()
        words = "The installation was cancelled." if cancelled else "Its worker died, three times."
        one.error = error_object("CANCELLED" if cancelled else "WORKER_LOST", words)
        one.steps = steps_stop(one.steps)
        kind = INSTALLATION_CANCELLED if cancelled else INSTALLATION_FAILED
        data = {"step": one.step, "code": one.error["code"], "package": one.package, "version": one.version}
        record(Entry(kind, SYSTEM, "installation", str(one.pk), data))
        if cancelled:
            one.sealed_location = ""
            staged_remove(one)
    else:
        one.status = Status.QUEUED
    one.save(update_fields=["status", "lease_token", "finished_at", "error", "steps", "sealed_location"])
    ring_after_commit()
    return True


def installations_tidy() -> int:
    """Gives up what nobody decided on, and removes what failed ones keep too long or too much of."""
    return _reviews_expire() + _failed_expire() + failed_bound() + _archives_sweep()


def _archives_sweep() -> int:
    """Removes archives that nothing names: their worker died before the installation's row did."""
    named = Release.objects.filter(removed_at=None, digest=OuterRef("pk"))
    going = going_on().filter(digest=OuterRef("pk"))
    lost = Archive.objects.filter(~Exists(named), ~Exists(going), created_at__lt=timezone.now() - KEPT)
    return delete("archives", lost, most=100)


def _failed_expire() -> int:
    keeps = Q(pk__in=Staged.objects.values("pk")) | ~Q(sealed_location="")
    old = Installation.objects.filter(keeps, status=Status.FAILED, finished_at__lt=timezone.now() - KEPT)
    return each("staged", old, failed_remove)


def _reviews_expire() -> int:
    now = timezone.now()
    # Those that an older version of the hub left waiting have no end of their own.
    ends = Q(review_ends_at__lt=now) | Q(
        review_ends_at=None, created_at__lt=now - timedelta(days=settings.REVIEW_DAYS)
    )
    over = Installation.objects.filter(ends, status=Status.AWAITING_REVIEW).order_by("pk")
    return each("reviews", over, _review_expire)


def _review_expire(pk: UUID) -> bool:
    rows = Installation.objects.select_for_update().filter(pk=pk, status=Status.AWAITING_REVIEW)
    one = rows.first()
    if one is None:
        return False
    words = f"Nobody decided on it within {settings.REVIEW_DAYS} days."
    one.error = error_object("CANCELLED", words, suggestions=["Install it again, and review it."])
    one.status, one.finished_at, one.steps = Status.CANCELLED, timezone.now(), steps_stop(one.steps)
    one.save(update_fields=["status", "finished_at", "steps", "error"])
    staged_remove(one)
    data = {"package": one.package, "version": one.version, "digest": one.digest}
    record(Entry(INSTALLATION_EXPIRED, SYSTEM, "installation", str(one.pk), data))
    return True
