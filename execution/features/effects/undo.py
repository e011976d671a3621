"""Undoing what a tool may have done: the rollbacks of its effects, called as if it had done all of it.

Nothing of its effects was written, as that comes with an outcome: rollbacks are for what happened outside.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from core.errors import ToolHubError
from execution.engine.children import Child, child_check_for, child_refused, child_submit
from execution.engine.events import event_add
from execution.engine.features import Conflict
from execution.engine.outcomes import Outcome
from execution.features.effects.steps import Unworkable, Which
from execution.features.effects.view import View
from execution.models import Run, Status
from execution.run_events import EFFECT_COMPENSATED
from registry.models import ToolVersion
from security.facts import LimitFact
from security.policy.usage import usage_keys, usage_rows_lock
from security.principals import PersonaPrincipal


@dataclass(frozen=True)
class Undo:
    """The call that undoes one effect."""

    which: Which
    child: Child


@dataclass(frozen=True)
class UndoRefused:
    """A call was not accepted after all: a limit or the queue is full. Its transaction is taken back."""

    undo: Undo
    cause: ToolHubError

    def recorded(self) -> ToolHubError:
        """Lets the ledger hear of it, after the transaction; what the person hears."""
        child_refused(self.undo.child, self.cause)
        return self.cause


def undo_declared(version: ToolVersion) -> list[tuple[Which, Mapping[str, Any]]]:
    """The effects of a success that name a tool which undoes them, the last first; for most tools none."""
    found = [
        (Which(index, effect["type"], effect["description"]), effect)
        for index, effect in enumerate(version.declared.get("effects", []))
        if "rollback" in effect and effect.get("on", "success") != "failure"
    ]
    return found[::-1]


def undo_plan(run: Run, result: Any, principal: PersonaPrincipal) -> list[Undo]:
    """The calls that undo a run, worked out with what somebody found as its result (None: nothing).

    Outside of any transaction. Raises ToolHubError where one cannot be worked out or may not be made: all are
    called, or none.
    """
    declared = undo_declared(run.tool_version)
    if not declared:
        raise _impossible(f"No effect of {run.tool} {run.tool_version.version} names a tool that undoes it.")
    now = datetime.now(UTC)
    view = View(run, Outcome(Status.COMPLETED, now, now, 0.0, data=result))
    return [_planned(which, effect, view, principal) for which, effect in declared]


def _planned(which: Which, effect: Mapping[str, Any], view: View, principal: PersonaPrincipal) -> Undo:
    rollback = effect["rollback"]
    at = ("working", effect["state"]) if "state" in effect else (effect["scope"], effect["key"])
    try:
        arguments = view.mapped(rollback.get("arguments", {}), at)
    except Unworkable as error:
        raise _impossible(f"What undoes effect {which.index + 1} cannot be called: {error}") from error
    return Undo(which, child_check_for(principal, view.run, rollback["tool"], arguments))


def _impossible(message: str) -> ToolHubError:
    ways = ["Give what the tool returned, if you know it.", "Or resolve the run in another way."]
    return ToolHubError(message, code="CONFLICT", suggestions=ways)


def undo_limits(plan: Sequence[Undo]) -> list[LimitFact]:
    """What the calls count against."""
    return [limit for undo in plan for limit in undo.child.checked.found.policy.limits]


def undo_submit(run: Run, plan: Sequence[Undo]) -> list[dict[str, Any]] | UndoRefused | Conflict:
    """Submits the calls in the caller's transaction, which holds the run; what the record says of each.

    Where one is not accepted, the caller takes its transaction back; a Conflict says that it is to plan anew.
    """
    usage_rows_lock(sorted(usage_keys(undo_limits(plan), run.persona_id)))
    told = []
    for undo in plan:
        try:
            child = child_submit(undo.child)
        except ToolHubError as error:
            return UndoRefused(undo, error)
        if isinstance(child, Conflict):
            return child
        told.append({**undo.which.named(), "tool": child.tool, "run": str(child.pk)})
        event_add(run.pk, EFFECT_COMPENSATED, told[-1])
    return told
