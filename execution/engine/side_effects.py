"""How far the effect of a run can have gone, and what its caller is told of that."""

import dataclasses

from execution.engine.outcomes import Outcome
from execution.models import Attempt, Run, Status
from execution.side_effects import SideEffect
from registry.models import ToolVersion

_ORDER = ("", SideEffect.NONE, SideEffect.POSSIBLE, SideEffect.DONE)
MAY_HAVE_HAPPENED = (
    "The tool may have done its work, in whole or in part. Check before you call it again: a second call may "
    "repeat the effect."
)


def outcome_judged(run: Run, outcome: Outcome) -> Outcome:
    """The outcome with how far the effect can have gone, over all attempts of the run.

    A tool that is pure has none. What ended after its start and without a word of the tool is possible. Where
    a second call could do it twice, the error says so.
    """
    effect: str = _of_attempt(run.tool_version, outcome)
    if run.attempt > 1:
        earlier = Attempt.objects.filter(run_id=run.pk).exclude(number=run.attempt)
        effect = max([effect, *(earlier.values_list("side_effect", flat=True))], key=_ORDER.index)
    outcome = dataclasses.replace(outcome, side_effect=SideEffect(effect))
    if outcome.error is None or not is_doubtful(run.tool_version, effect):
        return outcome
    error = dict(outcome.error)
    said = [MAY_HAVE_HAPPENED, *(one for one in error["suggestions"] if one != MAY_HAVE_HAPPENED)]
    return dataclasses.replace(outcome, error={**error, "suggestions": said, "retryable": False})


def is_doubtful(version: ToolVersion, effect: str) -> bool:
    """Whether nobody knows if the tool took effect, and doing it again could do it twice."""
    return effect == SideEffect.POSSIBLE and not version.is_idempotent


def attempt_effect(run: Run, outcome: Outcome) -> SideEffect:
    """The same of one attempt alone."""
    return _of_attempt(run.tool_version, outcome)


def _of_attempt(version: ToolVersion, outcome: Outcome) -> SideEffect:
    if version.is_pure:
        return SideEffect.NONE
    if outcome.side_effect is not None:
        return outcome.side_effect
    return SideEffect.DONE if outcome.status is Status.COMPLETED else SideEffect.POSSIBLE
