"""Carries a plan out, in the transaction that writes the run's outcome."""

import dataclasses
from collections.abc import Callable

from core.errors import ToolHubError, error_object
from core.failpoints import failpoint
from execution.engine.children import child_refused, child_submit
from execution.engine.events import event_next
from execution.engine.outcomes import Outcome
from execution.features.effects.plan import plan_make
from execution.features.effects.steps import OWN, Changed, Compensation, Failed, Plan, Step
from execution.memory.events import session_event_add
from execution.memory.places import Place, place_of
from execution.memory.store import memory_read, same, session_touch, spaces_lock, value_put
from execution.models import EFFECT_FAILED as EFFECT
from execution.models import Run, Status
from execution.run_events import EFFECT_APPLIED, EFFECT_COMPENSATED, EFFECT_FAILED, EFFECT_TAKEN_BACK
from security.policy.usage import LimitGone, LimitReached, limits_held, usage_lock

# So often it is planned anew because others changed the same values.
TRIES = 100
Apply = Callable[[Run], None]
Write = Callable[[Outcome, Apply], bool]


class Follows(Exception):
    """Something follows from the outcome of a run that is locked: it is worked out before its transaction."""

    def __init__(self, run: Run, outcome: Outcome) -> None:
        super().__init__(str(run.pk))
        self.run = run
        self.outcome = outcome


def has_effects(run: Run, outcome: Outcome) -> bool:
    """Whether something may follow from the outcome beside itself."""
    if "hook" in run.request:  # it was no call of the tool
        return False
    return bool(outcome.memory) or "effects" in run.tool_version.extras


def effects_write(run: Run, outcome: Outcome, write: Write) -> bool:
    """Writes an outcome by `write`, with all that follows from it, or with the fault of what cannot.

    `write` gets the outcome to write and what is to be done in its transaction; its answer is returned.
    """
    failed: dict[int, str] = {}
    tries = 0
    while True:
        plan = plan_make(run, outcome, failed)
        try:
            with limits_held(plan.limits):
                return write(outcome_of(plan, outcome), _applying(plan, run))
        except LimitGone:
            continue  # taken away since the plan was made, and nothing was written
        except Failed as failure:
            child, cause = failure.child, failure.cause
            failed[failure.index] = child_refused(child, cause).message if child else str(cause)
        except Changed:
            tries += 1
            if tries >= TRIES:
                failed[plan.steps[0].which.index] = "Others changed the same memory again and again."


def effects_follow(outcome: Outcome, write: Write) -> bool:
    """Writes the outcome of a run that nobody holds, with its effects where an attempt of it was begun.

    Only its locked row tells whether one was: so `write` is tried without effects first.
    """

    def ask(locked: Run) -> None:
        if locked.attempt and has_effects(locked, outcome):
            raise Follows(locked, outcome)

    try:
        return write(outcome, ask)
    except Follows as follows:
        return effects_write(follows.run, outcome, write)


def outcome_of(plan: Plan, outcome: Outcome) -> Outcome:
    """The outcome under a plan: EFFECT_FAILED where there is a fault."""
    fault = plan.fault
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


def _applying(plan: Plan, run: Run) -> Apply:
    place = place_of(run.persona_id, run.request)

    def apply(locked: Run) -> None:
        # One order everywhere: the session, its memory, then what is counted.
        if any(step.notice for step in plan.kept):
            session_touch(place)
        if plan.scopes:
            _memory_change(plan, place)
        usage_lock(plan.limits, run.persona_id, run.metered)
        for step in plan.kept:
            event_next(locked, EFFECT_APPLIED, step.which.named() | _carry_out(step, place, run))
        if plan.fault:
            event_next(locked, EFFECT_FAILED, plan.fault.named())
        for step in plan.taken_back:
            event_next(locked, EFFECT_TAKEN_BACK, step.which.named())
        for compensation in plan.compensations:
            event_next(locked, EFFECT_COMPENSATED, _compensate(compensation))
        failpoint("effects.before")

    return apply


def _memory_change(plan: Plan, place: Place) -> None:
    spaces = spaces_lock(place, plan.scopes)
    for (scope, key), value in plan.expected.items():
        if not same(memory_read(place, scope, key), value):
            raise Changed
    for step in plan.kept:
        for change in step.changes:
            try:
                value_put(spaces[change.scope], change.key, change.value)
            except ToolHubError as error:
                raise Failed(step.which.index, error) from error


def _carry_out(step: Step, place: Place, run: Run) -> dict[str, str]:
    """Sends the event, or submits the run; what the run's own event tells of it beside."""
    if step.notice:
        session_event_add(place, step.notice.name, step.notice.payload, run_id=run.pk, tool=run.tool)
        return {"event": step.notice.name}
    if step.child:
        try:
            child = child_submit(step.child)
        except (ToolHubError, LimitReached) as error:
            raise Failed(step.which.index, error, step.child) from error
        return {"tool": child.tool, "run": str(child.pk)}
    return {}


def _compensate(compensation: Compensation) -> dict[str, object]:
    """Submits the run that undoes an effect; its failure is told, and the rest goes on."""
    told: dict[str, object] = dict(compensation.which.named())
    if compensation.child is None:
        return {**told, "failed": compensation.reason}
    try:
        child = child_submit(compensation.child)
    except (ToolHubError, LimitReached) as error:
        return {**told, "failed": str(error)}
    return {**told, "tool": child.tool, "run": str(child.pk)}
