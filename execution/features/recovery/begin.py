"""After the last attempt: what the contract says of that. No transaction may be open: conditions are CEL."""

import dataclasses
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db.models.functions import Now

from core.errors import ToolHubError
from execution.engine.children import Child, child_check, child_refused, child_submit
from execution.engine.claim import Lease
from execution.engine.notices import run_wake
from execution.engine.outcomes import Outcome
from execution.features.recovery.notify import person_notify
from execution.features.retry.wait import attempt_wait
from execution.models import Attempt, Recovery, Run, Status
from execution.run_events import FALLBACK_CALLED, PERSON_ASKED
from security.policy.usage import LimitReached, usage_lock

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def recovery_begin(lease: Lease, outcome: Outcome) -> Outcome | None:
    """The outcome of a run whose last attempt has ended, or None where it waits: for a fallback, or a person.

    The error tells what was tried, in `details.recovery`.
    """
    run = lease.run
    if outcome.error is None or outcome.status is Status.CANCELLED or "hook" in run.request:
        return outcome
    declared = run.tool_version.declared["recovery"]
    match declared["type"]:
        case "fallback":
            return _fall_back(lease, outcome, declared["fallbackTool"])
        case "manual":
            waits = _ask(lease, outcome, declared.get("escalation"))
            return None if waits else outcome
    return recovery_told(outcome, {"type": declared["type"]})


def attempt_outcome(attempt: Attempt) -> Outcome:
    """What a failed attempt on record ended with, as the outcome of its run."""
    at = attempt.finished_at or attempt.claimed_at
    return Outcome(Status(attempt.status), at, at, attempt.duration_ms or 0.0, error=attempt.error)


def recovery_told(outcome: Outcome, what: Mapping[str, Any]) -> Outcome:
    """The outcome with what was tried in its error."""
    error = dict(outcome.error or {})
    details = {**error.get("details", {}), "recovery": dict(what)}
    return dataclasses.replace(outcome, error={**error, "details": details})


def _fall_back(lease: Lease, outcome: Outcome, tool: str) -> Outcome | None:
    """Calls the other tool with the same arguments, as a child run with the same rights."""
    try:
        child = child_check(lease.run, tool, lease.run.arguments)
    except ToolHubError as error:
        return _refused(outcome, tool, error)

    def call(run: Run) -> dict[str, str]:
        return _called(run, child)

    try:
        waits = attempt_wait(lease, outcome, Status.WAITING_STEPS, FALLBACK_CALLED, call)
    except (ToolHubError, LimitReached) as cause:
        return _refused(outcome, tool, child_refused(child, cause))
    return None if waits else outcome


def _called(run: Run, child: Child) -> dict[str, str]:
    # What the attempt took is booked in the same transaction: one order of locks.
    usage_lock(child.checked.found.policy.limits, run.persona_id, run.metered)
    made = child_submit(child)
    Recovery.objects.create(run=run, child=made)
    return {"tool": made.tool, "run": str(made.pk)}


def _refused(outcome: Outcome, tool: str, error: ToolHubError) -> Outcome:
    what = {"type": "fallback", "tool": tool, "refused": error.code, "reason": error.message}
    return recovery_told(outcome, what)


def _ask(lease: Lease, outcome: Outcome, escalation: Mapping[str, str] | None) -> bool:
    """Lets the run wait for a person; false where it is over."""

    def ask(run: Run) -> dict[str, str]:
        row = Recovery(run=run)
        if escalation:
            row.escalates_at, row.escalates_to = Now() + _time(escalation["after"]), escalation["to"]
        row.save(force_insert=True)
        person_notify(run)
        run_wake(run.pk)
        return {}

    return attempt_wait(lease, outcome, Status.AWAITING_PERSON, PERSON_ASKED, ask)


def _time(text: str) -> timedelta:
    """A time such as 10m."""
    return timedelta(seconds=int(text[:-1]) * _UNITS[text[-1]])
