"""After the last attempt: what the contract says of that."""

import dataclasses
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, ClassVar

from django.db.models.functions import Now

from core.actors import Actor
from core.errors import ToolHubError
from execution.engine.children import Child, child_check, child_refused, child_submit
from execution.engine.features import Conflict, Conflicts, Feature, Held, Plan, Traits, Wait
from execution.engine.lease import Lease
from execution.engine.locks import USAGE
from execution.engine.notices import run_wake
from execution.engine.outcomes import Outcome
from execution.engine.submit import run_cancel
from execution.features.recovery.notify import person_notify
from execution.features.recovery.outcomes import recovery_told
from execution.features.recovery.view import recovery_view
from execution.models import Recovery, Run, Status
from execution.run_events import FALLBACK_CALLED, PERSON_ASKED
from security.policy.usage import booked_keys, usage_keys

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@dataclasses.dataclass(frozen=True)
class _Refused:
    """A fallback that was not accepted after all."""

    child: Child
    cause: ToolHubError


class RecoveryFeature(Feature):
    """Calls another tool or a person when the last attempt has failed."""

    traits: ClassVar[Traits] = frozenset({"recovery"})
    members: ClassVar[tuple[str, ...]] = ("recovery",)

    def after_attempt(self, lease: Lease, outcome: Outcome, conflicts: Conflicts) -> Outcome | Wait:
        """The run waits, for a fallback or a person, or ends with what was tried in `details.recovery`."""
        run = lease.run
        if outcome.error is None or outcome.status is Status.CANCELLED:
            return outcome
        declared = run.tool_version.declared["recovery"]
        match declared["type"]:
            case "fallback":
                return _fall_back(run, outcome, declared["fallbackTool"], conflicts)
            case "manual":
                return _ask(declared.get("escalation"))
        return recovery_told(outcome, {"type": declared["type"]})

    def after_cancel(self, run: Run, by: Actor) -> None:
        """A fallback that the run waits for is asked to stop."""
        row = Recovery.objects.select_related("child").filter(run=run).first()
        if row and row.child:
            run_cancel(by=by, run=row.child)

    def shown(self, run: Run) -> Mapping[str, Any]:
        """What was done."""
        return {"recovery": recovery_view(run)}


def _fall_back(run: Run, outcome: Outcome, tool: str, conflicts: Conflicts) -> Outcome | Wait:
    """Calls the other tool with the same arguments, as a child run with the same rights."""
    refused = next((one.what for one in conflicts if isinstance(one.what, _Refused)), None)
    if refused:
        child_refused(refused.child, refused.cause)
        return _not_called(outcome, tool, refused.cause)
    try:
        child = child_check(run, tool, run.arguments)
    except ToolHubError as error:
        return _not_called(outcome, tool, error)
    told: dict[str, str] = {}

    def call(run: Run, held: Held) -> Conflict | None:
        try:
            made = child_submit(child)
        except ToolHubError as error:
            return Conflict(_Refused(child, error))
        if isinstance(made, Conflict):
            return Conflict()
        Recovery.objects.create(run=run, child=made)
        told.update({"tool": made.tool, "run": str(made.pk)})
        return None

    # What the attempt took is booked in the same transaction.
    keys = usage_keys(child.checked.found.policy.limits, run.persona_id)
    locks = {USAGE: keys | booked_keys(run.metered)} if keys else {}
    return Wait(Status.WAITING_STEPS, FALLBACK_CALLED, told, plan=Plan(locks=locks, acts=[call]))


def _not_called(outcome: Outcome, tool: str, error: ToolHubError) -> Outcome:
    what = {"type": "fallback", "tool": tool, "refused": error.code, "reason": error.message}
    return recovery_told(outcome, what)


def _ask(escalation: Mapping[str, str] | None) -> Wait:
    """Lets the run wait for a person."""

    def ask(run: Run, held: Held) -> None:
        row = Recovery(run=run)
        if escalation:
            row.escalates_at, row.escalates_to = Now() + _time(escalation["after"]), escalation["to"]
        row.save(force_insert=True)
        person_notify(run)
        run_wake(run.pk)

    return Wait(Status.AWAITING_PERSON, PERSON_ASKED, plan=Plan(acts=[ask]))


def _time(text: str) -> timedelta:
    """A time such as 10m."""
    return timedelta(seconds=int(text[:-1]) * _UNITS[text[-1]])
