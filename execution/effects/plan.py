"""Works out what follows from an outcome. No transaction may be open: conditions and values are CEL."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from core.errors import ToolHubError
from execution.effects.children import child_check
from execution.effects.kinds import KINDS
from execution.effects.steps import OWN, OWN_CHANGES, Compensation, Fault, Plan, Step, Unworkable, Which
from execution.effects.view import View
from execution.models import Run, Status
from execution.runs.outcomes import Outcome

_ON: Mapping[Status, frozenset[str]] = {
    Status.COMPLETED: frozenset({"success", "always"}),
    Status.FAILED: frozenset({"failure", "always"}),
    Status.TIMEOUT: frozenset({"failure", "always"}),
    Status.CANCELLED: frozenset({"always"}),
}


def plan_make(run: Run, outcome: Outcome, failed: Mapping[int, str]) -> Plan:
    """The steps of an outcome, up to the first that cannot be worked out or is known to have `failed`."""
    view, plan = View(run, outcome), Plan()
    declared = run.tool_version.declared.get("effects", [])
    if outcome.memory and not _own(plan, outcome, failed, view):
        return plan
    for index, effect in enumerate(declared):
        if effect.get("on", "success") not in _ON[outcome.status]:
            continue
        which = Which(index, effect["type"], effect["description"])
        try:
            if index in failed:
                raise Unworkable(failed[index])
            step = KINDS[effect["type"]](effect, which, view)
        except Unworkable as unworkable:
            plan.fault = Fault(which, str(unworkable))
            break
        if step is not None:
            plan.steps.append(step)
    if plan.fault:
        without = view.afresh()
        plan.steps = [_alone(declared, step, without) for step in plan.steps]
        # What undoes an effect sees memory as it was before the run.
        undone = [_compensation(declared, step, view.afresh()) for step in plan.taken_back]
        plan.compensations = [one for one in undone if one]
    plan.expected = view.seen
    return plan


def _own(plan: Plan, outcome: Outcome, failed: Mapping[int, str], view: View) -> bool:
    """Plans what the tool changed by itself; false where that failed."""
    if OWN in failed:
        plan.fault = Fault(OWN_CHANGES, failed[OWN])
        return False
    plan.steps.append(Step(OWN_CHANGES, changes=outcome.memory))
    for change in outcome.memory:
        view.change(change)
    return True


def _alone(declared: list[Mapping[str, Any]], step: Step, view: View) -> Step:
    """A step that stays, worked out without those that are taken back; where it cannot be, it is, too."""
    if step.reversible or not step.changes:
        return step
    try:
        return KINDS[step.which.kind](declared[step.which.index], step.which, view) or step
    except Unworkable:
        return dataclasses.replace(step, reversible=True)


def _compensation(declared: list[Mapping[str, Any]], step: Step, view: View) -> Compensation | None:
    """The call of the tool that an effect names for its rollback; it sees the value before the effect."""
    rollback = declared[step.which.index].get("rollback") if step.which.index >= 0 else None
    if rollback is None or step.child:  # a run that was never submitted has done nothing
        return None
    at = (step.changes[0].scope, step.changes[0].key) if step.changes else None
    try:
        arguments = view.mapped(rollback.get("arguments", {}), at)
        return Compensation(step.which, child_check(view.run, rollback["tool"], arguments))
    except (Unworkable, ToolHubError) as error:
        return Compensation(step.which, None, str(error))
