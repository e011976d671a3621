"""A run that was over when it was accepted: its one attempt and first events stand in its own columns.

Other runs have rows for both. Events that come after its end (a callback, a cleanup) are rows here, too.
"""

from datetime import datetime

from execution.engine.events import Step
from execution.models import Attempt, Run, RunEvent, Status
from execution.run_events import CALL_COMPLETED, CALL_FAILED, CALL_REQUESTED, STARTED

WORKER = "web"


def brief_steps(run: Run, end: str, ended_at: datetime) -> tuple[Step, ...]:
    """Its events from the request to the end, which is of that kind."""
    started_at = run.started_at or run.created_at
    return (
        Step(1, CALL_REQUESTED, run.created_at, {}),
        Step(2, STARTED, started_at, {"attempt": 1}),
        Step(3, end, ended_at, {}),
    )


def events_of(run: Run, after: int = 0) -> list[RunEvent | Step]:
    """A run's events with a number above `after`, in order."""
    # Filtered here where they were read along with the run.
    if "events" in getattr(run, "_prefetched_objects_cache", {}):
        rows = [event for event in run.events.all() if event.seq > after]
    else:
        rows = list(run.events.filter(seq__gt=after).order_by("seq"))
    if not run.is_brief:
        return [*rows]
    end = CALL_COMPLETED if run.status == Status.COMPLETED else CALL_FAILED
    steps = brief_steps(run, end, run.completed_at or run.created_at)
    return [*(step for step in steps if step.seq > after), *rows]


def attempts_of(run: Run) -> list[Attempt]:
    """A run's attempts, in order."""
    if not run.is_brief:
        return list(run.attempts.all())
    return [
        Attempt(
            run=run,
            number=1,
            worker=WORKER,
            claimed_at=run.created_at,
            started_at=run.started_at,
            finished_at=run.completed_at,
            status=run.status,
            error_code=run.error["code"] if run.error else "",
            error=run.error,
            duration_ms=run.duration_ms,
        )
    ]
