"""Works out what follows from an outcome. No transaction may be open: conditions and values are CEL."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from core.errors import ToolHubError
from execution.engine.children import child_check
from execution.engine.outcomes import Outcome
from execution.features.effects.kinds import KINDS
from execution.features.effects.steps import (
    OWN,
    OWN_CHANGES,
    Compensation,
    Effects,
    Fault,
    Step,
    Unworkable,
    Which,
)
from execution.features.effects.view import View
from execution.models import Run, Status

_ON: Mapping[Status, frozenset[str]] = {
    Status.COMPLETED: frozenset({"success", "always"}),
    Status.FAILED: frozenset({"failure", "always"}),
    Status.TIMEOUT: frozenset({"failure", "always"}),
    Status.CANCELLED: frozenset({"always"}),
}


def effects_plan(run: Run, outcome: Outcome, failed: Mapping[int, str]) -> Effects:
    """The steps of an outcome, up to the first that cannot be worked out or is known to have `failed`."""
    view, plan = View(run, outcome), Effects()
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
        _take_back(plan, declared, view.afresh())
    plan.expected = view.seen
    return plan


def _own(plan: Effects, outcome: Outcome, failed: Mapping[int, str], view: View) -> bool:
    """Plans what the tool changed by itself; false where that failed."""
    if OWN in failed:
        plan.fault = Fault(OWN_CHANGES, failed[OWN])
        return False
    plan.steps.append(Step(OWN_CHANGES, changes=outcome.memory))
    for change in outcome.memory:
        view.change(change)
    return True


def _take_back(plan: Effects, declared: list[Mapping[str, Any]], memory: View) -> None:
    """Leaves what stays, worked out in memory as it was, without what is taken back.

    A rollback sees its value as it then is: what stays and comes before its effect has changed it already.
    """
    steps = []
    for step in plan.steps:
        steps.append(left := _alone(declared, step, memory))
        if left.reversible and (undone := _compensation(declared, left, memory)):
            plan.compensations.insert(0, undone)
    plan.steps = steps


def _alone(declared: list[Mapping[str, Any]], step: Step, memory: View) -> Step:
    """A step that stays, worked out in this memory; where it cannot be, it is taken back, too.

    What changes no memory rests on none: a call that was checked is not asked for twice.
    """
    if step.reversible or not step.changes:
        return step
    try:
        return KINDS[step.which.kind](declared[step.which.index], step.which, memory) or step
    except Unworkable:
        return dataclasses.replace(step, reversible=True)


def _compensation(declared: list[Mapping[str, Any]], step: Step, memory: View) -> Compensation | None:
    """The call of the tool that an effect names for its rollback; `current` is what is there without it."""
    rollback = declared[step.which.index].get("rollback") if step.which.index >= 0 else None
    if rollback is None or step.child:  # a run that was never submitted has done nothing
        return None
    at = (step.changes[0].scope, step.changes[0].key) if step.changes else None
    try:
        arguments = memory.mapped(rollback.get("arguments", {}), at)
        return Compensation(step.which, child_check(memory.run, rollback["tool"], arguments))
    except (Unworkable, ToolHubError) as error:
        return Compensation(step.which, None, str(error))
