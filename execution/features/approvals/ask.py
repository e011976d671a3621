"""Asking: the call is written as a run that waits for a person; those who may decide are told."""

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from audit.ledger import Entry, record_all
from core.errors import Overloaded
from core.failpoints import failpoint
from execution import event_kinds
from execution.engine.accept import Accepted
from execution.engine.entries import accepted_entry
from execution.features.approvals.binding import binding_of
from execution.features.approvals.notify import approval_notify
from execution.models import Approval, IdempotencyKey, Run, RunEvent, Status
from execution.run_events import APPROVAL_ASKED, CALL_REQUESTED
from security.decisions import Check

# Of one persona; more would only hide each other in the queue.
OPEN_MAX = 100


def approval_ask(accepted: Accepted, asks: Check) -> Run:
    """Accepts a call that a person has to approve. Raises Overloaded, IntegrityError for a used key."""
    persona_id = accepted.principal.persona_id
    if Run.objects.filter(status=Status.AWAITING_APPROVAL, persona=persona_id).count() >= OPEN_MAX:
        raise Overloaded(
            f"{OPEN_MAX} calls of {accepted.principal.persona} wait for approval already.", retry_after=60
        )
    run = accepted.run(inline=False)
    run.status, run.events_count = Status.AWAITING_APPROVAL, 2
    now = timezone.now()
    approval = Approval(
        run=run,
        binding=binding_of(run),
        why=asks.reason[:500],
        asked_at=now,
        expires_at=now + timedelta(hours=settings.APPROVAL_HOURS),
    )
    told = {"why": approval.why, "expires_at": approval.expires_at.isoformat()}
    steps: tuple[tuple[str, dict[str, str]], ...] = ((CALL_REQUESTED, {}), (APPROVAL_ASKED, told))
    asked = Entry(
        event_kinds.APPROVAL_ASKED,
        accepted.principal.actor,
        "tool",
        run.tool,
        {**told, "binding": approval.binding.hex()},
        run.pk,
    )
    failpoint("ask.before")
    with transaction.atomic(), accepted.spent():
        Run.objects.bulk_create([run])
        if accepted.key:
            IdempotencyKey.objects.bulk_create([accepted.key_row(run)])
        RunEvent.objects.bulk_create(
            RunEvent(run_id=run.pk, seq=seq, kind=kind, at=run.created_at, data=data)
            for seq, (kind, data) in enumerate(steps, start=1)
        )
        record_all([accepted_entry(run, accepted.principal, accepted.grounds), asked])
        Approval.objects.bulk_create([approval])
        approval_notify(approval)
    failpoint("ask.after")
    return run
