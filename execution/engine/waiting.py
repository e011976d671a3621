"""Waiting for a caller's run."""

from execution.engine.selectors import run_of
from execution.engine.states import SETTLED
from execution.engine.waiters import WAITERS
from execution.models import Run, Status


def run_await(run: Run, persona_id: int, seconds: float) -> Run:
    """The run once it is settled, or as it is after `seconds`, or at once when too many wait already."""
    # What a person has to do is not waited for.
    if (
        run.status in SETTLED
        or run.status == Status.AWAITING_APPROVAL
        or seconds <= 0
        or not WAITERS.wait(run.pk, seconds)
    ):
        return run
    return run_of(run.pk, persona_id)
