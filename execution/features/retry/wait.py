"""Puts a run whose attempt failed back to wait: by its row, never by a sleep."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models.functions import Now

from core.duties.rows import all_or_each
from core.failpoints import failpoint
from execution.engine.bells import ring
from execution.engine.booking import attempt_book
from execution.engine.claim import Lease
from execution.engine.events import event_next
from execution.engine.outcomes import Outcome
from execution.engine.states import transition
from execution.models import Attempt, Run, Status
from execution.run_events import RETRY_WAITS


def retry_wait(lease: Lease, outcome: Outcome, delay_ms: int) -> bool:
    """Records the attempt and lets the run wait so many ms. False without the lease, or after a cancel.

    It waits for a worker also when it began in a web process.
    """
    return attempt_wait(
        lease,
        outcome,
        Status.WAITING_RETRY,
        RETRY_WAITS,
        lambda _: {"delay_ms": delay_ms},
        delay_ms=delay_ms,
        # By the database's clock, as the steward compares with it.
        due_at=Now() + timedelta(milliseconds=delay_ms),
    )


def attempt_wait(
    lease: Lease,
    outcome: Outcome,
    target: Status,
    kind: str,
    act: Callable[[Run], Mapping[str, Any]],
    *,
    delay_ms: int | None = None,
    **changes: Any,
) -> bool:
    """Records a failed attempt and lets its run wait. False without the lease, or after a cancel.

    `act` does what else belongs to it once the run's row is locked, and gives what the event `kind` tells.
    """
    with transaction.atomic():
        here = Run.objects.filter(pk=lease.run.pk)
        locked = here.select_for_update() if connection.vendor == "postgresql" else here
        run = locked.filter(status=Status.RUNNING, lease_token=lease.token, cancel_asked_at=None).first()
        if run is None:
            return False
        for each, data in outcome.told:
            event_next(run, each, data)
        event_next(run, kind, {"attempt": lease.attempt, "code": outcome.error_code, **act(run)})
        transition(
            here,
            source=Status.RUNNING,
            target=target,
            who="finish",
            lease_token=None,
            lease_ends=None,
            inline=False,
            events_count=run.events_count,
            **changes,
        )
        attempt_end(lease, outcome, delay_ms=delay_ms)
        attempt_book(run, outcome)
        failpoint("retry.before")
    failpoint("retry.after")
    return True


def attempt_end(lease: Lease, outcome: Outcome, *, delay_ms: int | None = None) -> None:
    """Writes how an attempt ended, in the caller's transaction, after the run's row: the order of locks."""
    Attempt.objects.filter(run=lease.run, lease_token=lease.token).update(
        finished_at=outcome.ended_at,
        status=outcome.status,
        error_code=outcome.error_code,
        error=outcome.error,
        duration_ms=outcome.duration_ms,
        delay_ms=delay_ms,
    )


def retries_due() -> int:
    """Makes runs whose waiting time is over due again, and rings for them; returns how many."""
    due = Run.objects.filter(status=Status.WAITING_RETRY, due_at__lte=Now())
    return all_or_each("retries", due, _make_due, most=1000)


def _make_due(run_ids: Sequence[UUID]) -> int:
    here = Run.objects.filter(pk__in=run_ids, status=Status.WAITING_RETRY)
    queues = set(here.order_by().values_list("queue", flat=True))
    moved = transition(here, source=Status.WAITING_RETRY, target=Status.PENDING, who="steward")
    transaction.on_commit(lambda: [ring(queue) for queue in queues])
    return moved
