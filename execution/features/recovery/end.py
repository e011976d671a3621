"""Ends runs whose fallback has ended, and lets others hear of those that nobody looks after."""

import dataclasses
import time
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from audit.ledger import Entry, record
from core.actors import SYSTEM
from core.duties.rows import BATCH, each
from core.json.canonical import canonical
from execution.engine.events import event_add
from execution.engine.outcomes import Outcome, success
from execution.engine.settle import run_settle
from execution.engine.states import FINAL
from execution.event_kinds import RUN_ESCALATED
from execution.features.recovery.notify import escalation_notify
from execution.features.recovery.outcomes import attempt_outcome, recovery_told
from execution.models import Attempt, Recovery, Run, Status
from execution.run_events import ESCALATED
from registry.schemas import output_validator, problems_of

# The steward has other duties, too: what is not done in so many seconds is done in its next turn.
TURN_S = 2.0


def fallbacks_end() -> int:
    """Gives runs that wait for a fallback their outcome, once that has one; returns how many.

    As many as there are, for TURN_S seconds.
    """
    ended, ends = 0, time.monotonic() + TURN_S
    due = Recovery.objects.filter(run__status=Status.WAITING_STEPS, child__status__in=FINAL).order_by("pk")
    some = BATCH
    # A run that fails is not tried again in the same turn.
    while some == BATCH and time.monotonic() <= ends:
        some = each("fallbacks", due, _end, atomic=False)
        ended += some
    return ended


def _end(recovery_id: int) -> bool:
    row = Recovery.objects.select_related("run__tool_version", "child").filter(pk=recovery_id).first()
    if row is None or row.child is None:
        return False
    outcome = _outcome(row.run, row.child)
    return run_settle(row.run, outcome, sources=[Status.WAITING_STEPS], who="last step")


def _outcome(run: Run, child: Run) -> Outcome:
    """What the fallback gave, where it keeps what the run's own tool promises; else the tool's own error."""
    own = Attempt.objects.get(run=run, number=run.attempt)
    if child.status == Status.COMPLETED:
        why = _misfit(run, child.result)
    else:
        why = (child.error or {}).get("code", child.status)
    if why:
        what = {"type": "fallback", "tool": child.tool, "run_id": str(child.pk), "failed": why}
        return recovery_told(attempt_outcome(own), what)
    said = f"{run.tool} failed with {own.error_code}. This is what {child.tool} gave instead."
    took = child.duration_ms or 0.0
    given = success(child.result, started_at=child.created_at, ended_at=child.created_at, duration_ms=took)
    return dataclasses.replace(given, warnings=(said,))


def _misfit(run: Run, result: Any) -> str:
    validator = output_validator(run.tool_version.digest, run.tool_version.definition)
    if validator and problems_of(validator, result):
        return "INVALID_OUTPUT"
    return "RESOURCE_EXCEEDED" if len(canonical(result)) > run.max_output_bytes else ""


def escalations_send() -> int:
    """Lets the group hear of runs that nobody looked after in time; returns how many."""
    due = Recovery.objects.filter(run__status=Status.AWAITING_PERSON, escalates_at__lte=Now())
    return each("escalations", due, _escalate)


def _escalate(recovery_id: int) -> bool:
    with transaction.atomic():
        row = Recovery.objects.select_related("run").get(pk=recovery_id)
        mine = Recovery.objects.filter(pk=row.pk, escalates_at__isnull=False)
        if not mine.update(escalates_at=None, escalated_at=Now()):
            return False
        event_add(row.run_id, ESCALATED, {"to": row.escalates_to})
        record(Entry(RUN_ESCALATED, SYSTEM, "tool", row.run.tool, {"to": row.escalates_to}, row.run_id))
        escalation_notify(row.run)
    return True
