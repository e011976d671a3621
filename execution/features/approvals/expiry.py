"""The end of requests that nobody decided on, and of those whose run was cancelled."""

from collections.abc import Mapping
from uuid import UUID

from django.db.models.functions import Now
from django.utils import timezone

from audit.kinds import EventKind
from audit.ledger import Entry, record
from core.actors import SYSTEM, Actor
from core.duties.rows import each
from execution import event_kinds
from execution.engine.outcomes import failure
from execution.engine.settle import run_settle
from execution.models import Approval, Run, Status, Verdict
from execution.side_effects import SideEffect

# The ledger's kind of event for what became of a request.
KINDS: Mapping[Verdict, EventKind] = {
    Verdict.APPROVED: event_kinds.APPROVAL_APPROVED,
    Verdict.DENIED: event_kinds.APPROVAL_DENIED,
    Verdict.EXPIRED: event_kinds.APPROVAL_EXPIRED,
    Verdict.WITHDRAWN: event_kinds.APPROVAL_WITHDRAWN,
}


def approvals_expire() -> int:
    """The steward's duty: cancels calls that nobody approved in time; returns how many."""
    due = Run.objects.filter(approval__decision="", approval__expires_at__lte=Now())
    due = due.order_by("approval__expires_at")
    return each("approvals", due, _expire)


def _expire(run_id: UUID) -> bool:
    run = Run.objects.select_related("tool_version").get(pk=run_id)
    message = "Nobody approved the call in time."
    outcome = failure(
        "APPROVAL_EXPIRED", message, at=timezone.now(), status=Status.CANCELLED, side_effect=SideEffect.NONE
    )
    # An approver who holds the row decides first; then there is nothing to expire.
    return run_settle(run, outcome, sources=[Status.AWAITING_APPROVAL], who="approver", before=_close)


def _close(run: Run) -> bool:
    return approval_close(run, Verdict.EXPIRED, SYSTEM)


def approval_close(run: Run, verdict: Verdict, actor: Actor) -> bool:
    """Ends a request that waits, in the caller's transaction, which holds the run; false when it is over."""
    waits = Approval.objects.filter(run=run, decision="")
    if not waits.update(decision=verdict, decided_at=Now()):
        return False
    record(Entry(KINDS[verdict], actor, "tool", run.tool, {}, run.pk))
    return True
