"""The part of effects in a run's life: they are written by the transaction that writes the run's outcome."""

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from core.errors import ToolHubError, error_object
from core.failpoints import failpoint
from execution.engine.children import child_refused, child_submit
from execution.engine.events import event_next
from execution.engine.features import Act, Conflict, Conflicts, Feature, Held, Plan, Traits
from execution.engine.locks import USAGE
from execution.engine.outcomes import Outcome
from execution.engine.places import Place, place_of
from execution.features.effects.plan import effects_plan
from execution.features.effects.steps import OWN, Compensation, Effects, Failed, Step
from execution.memory.events import session_event_add
from execution.memory.store import SESSION, SPACES, memory_read, same, value_put
from execution.models import EFFECT_FAILED as EFFECT
from execution.models import Run, Status
from execution.run_events import EFFECT_APPLIED, EFFECT_COMPENSATED, EFFECT_FAILED, EFFECT_TAKEN_BACK
from security.policy.usage import booked_keys, usage_keys

# So often it is planned anew because others changed the same values; then that is the fault.
CHANGED_MOST = 90
CHANGED = "changed"


class EffectsFeature(Feature):
    """What a contract has follow from an outcome, and what the tool changed in memory by itself."""

    traits: ClassVar[Traits] = frozenset({"effects", "memory"})

    def at_outcome(self, run: Run, outcome: Outcome, conflicts: Conflicts) -> Plan | None:
        """The effects in the contract's order; the first fault leaves those that cannot be taken back."""
        # Nothing follows from a run of which no attempt was begun.
        if not run.attempt or not (outcome.memory or "effects" in run.tool_version.extras):
            return None
        if conflicts and isinstance(conflicts[-1].what, Failed) and conflicts[-1].what.child:
            child_refused(conflicts[-1].what.child, conflicts[-1].what.cause)
        effects = effects_plan(run, outcome, _failed(run, outcome, conflicts))
        return _plan(effects, run, outcome)


def _failed(run: Run, outcome: Outcome, conflicts: Conflicts) -> dict[int, str]:
    """What is known to fail, by the place of its effect, and why."""
    found = [one.what for one in conflicts if isinstance(one.what, Failed)]
    failed = {one.index: one.cause.message for one in found}
    if sum(one.what == CHANGED for one in conflicts) >= CHANGED_MOST:
        first = next(iter(effects_plan(run, outcome, failed).steps), None)
        if first:
            failed[first.which.index] = "Others changed the same memory again and again."
    return failed


def _plan(effects: Effects, run: Run, outcome: Outcome) -> Plan:
    place = place_of(run.persona_id, run.request)
    at = place.persona_id, place.session, place.loop
    children = [child.checked.found.policy.limits for child in effects.children]
    limits = [limit for some in children for limit in some]
    return Plan(
        locks={
            SESSION: [at] if any(step.notice for step in effects.kept) else [],
            SPACES: [(*at, scope) for scope in effects.scopes],
            USAGE: usage_keys(limits, run.persona_id) | (booked_keys(run.metered) if limits else set()),
        },
        guards=[_unchanged(effects, place)],
        acts=_acts(effects, place),
        outcome=outcome_of(effects, outcome),
    )


def outcome_of(effects: Effects, outcome: Outcome) -> Outcome:
    """The outcome with what became of its effects: EFFECT_FAILED where there is a fault."""
    fault = effects.fault
    if fault is None:
        return outcome
    which = fault.which
    said = fault.reason if which.index == OWN else f"Effect {which.index + 1} failed: {fault.reason}"
    if outcome.error is not None:
        # The tool's own error is the cause that a caller has to know.
        return dataclasses.replace(outcome, warnings=(*outcome.warnings, said))
    error = error_object(EFFECT, said, details=fault.named())
    # The data stays: it is kept as the run's result, and told with the error.
    return dataclasses.replace(outcome, status=Status.FAILED, error=error, encoded=b"")


def _unchanged(effects: Effects, place: Place) -> Act:
    """The values that the effects were worked out from are still the same."""

    def guard(run: Run, held: Held) -> Conflict | None:
        for (scope, key), value in effects.expected.items():
            if not same(memory_read(place, scope, key), value):
                return Conflict(CHANGED)
        return None

    return guard


def _acts(effects: Effects, place: Place) -> Sequence[Act]:
    at = place.persona_id, place.session, place.loop

    def change(run: Run, held: Held) -> Conflict | None:
        for step in effects.kept:
            for one in step.changes:
                try:
                    value_put(held[SPACES][(*at, one.scope)], one.key, one.value)
                except ToolHubError as error:
                    return Conflict(Failed(step.which.index, error))
        return None

    def carry_out(run: Run, held: Held) -> Conflict | None:
        for step in effects.kept:
            told = _carry_out(step, place, run)
            if isinstance(told, Conflict):
                return told
            event_next(run, EFFECT_APPLIED, step.which.named() | told)
        if effects.fault:
            event_next(run, EFFECT_FAILED, effects.fault.named())
        for step in effects.taken_back:
            event_next(run, EFFECT_TAKEN_BACK, step.which.named())
        for compensation in effects.compensations:
            event_next(run, EFFECT_COMPENSATED, _compensate(compensation))
        failpoint("effects.before")
        return None

    return [change, carry_out]


def _carry_out(step: Step, place: Place, run: Run) -> dict[str, str] | Conflict:
    """Sends the event, or submits the run; what the run's own event tells of it beside."""
    if step.notice:
        session_event_add(place, step.notice.name, step.notice.payload, run_id=run.pk, tool=run.tool)
        return {"event": step.notice.name}
    if step.child:
        try:
            child = child_submit(step.child)
        except ToolHubError as error:
            return Conflict(Failed(step.which.index, error, step.child))
        if isinstance(child, Conflict):
            return Conflict(CHANGED)
        return {"tool": child.tool, "run": str(child.pk)}
    return {}


def _compensate(compensation: Compensation) -> dict[str, object]:
    """Submits the run that undoes an effect; its failure is told, and the rest goes on."""
    told: dict[str, object] = dict(compensation.which.named())
    if compensation.child is None:
        return {**told, "failed": compensation.reason}
    try:
        child = child_submit(compensation.child)
    except ToolHubError as error:
        return {**told, "failed": str(error)}
    if isinstance(child, Conflict):
        return {**told, "failed": "What it may count against has changed."}
    return {**told, "tool": child.tool, "run": str(child.pk)}
