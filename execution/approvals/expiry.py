"""The end of requests that nobody decided on, and of those whose run was cancelled."""

from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from audit.ledger import Entry, record
from core.actors import SYSTEM, Actor
from execution.models import Approval, Run, Status, Verdict
from execution.runs.finish import outcome_write
from execution.runs.outcomes import failure

BATCH = 100


def approvals_expire() -> int:
    """The steward's duty: cancels calls that nobody approved in time; returns how many."""
    due = Approval.objects.filter(decision="", expires_at__lte=Now()).order_by("expires_at")
    return sum(_expire(run_id) for run_id in due.values_list("run_id", flat=True)[:BATCH])


def _expire(run_id: UUID) -> bool:
    with transaction.atomic():
        # An approver who holds the row decides first; then there is nothing to expire.
        run = Run.objects.select_for_update().get(pk=run_id)
        if not approval_close(run, Verdict.EXPIRED, SYSTEM):
            return False
        message = "Nobody approved the call in time."
        outcome = failure("APPROVAL_EXPIRED", message, at=timezone.now(), status=Status.CANCELLED)
        return outcome_write(run_id, None, source=Status.AWAITING_APPROVAL, who="approver", outcome=outcome)


def approval_close(run: Run, verdict: Verdict, actor: Actor) -> bool:
    """Ends a request that waits, in the caller's transaction, which holds the run; false when it is over."""
    waits = Approval.objects.filter(run=run, decision="")
    if not waits.update(decision=verdict, decided_at=Now()):
        return False
    record(Entry(f"approval.{verdict.value}", actor, "tool", run.tool, {}, run.pk))
    return True
