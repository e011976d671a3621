"""Runs that wait after a failed attempt, by their row and never by a sleep."""

import functools
import time
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.db import connection, transaction
from django.db.models.functions import Now

from core.duties.rows import all_or_each
from core.failpoints import failpoint
from execution.engine import timers
from execution.engine.bells import ring
from execution.engine.events import event_next
from execution.engine.features import Conflict, Wait, traits_of
from execution.engine.lease import Lease
from execution.engine.outcomes import Outcome
from execution.engine.plans import acts_do, after_do, locks_take
from execution.engine.settle import attempt_end, attempt_plans
from execution.engine.states import transition
from execution.models import Attempt, Run, Status

# Longer waits are left to the steward, which makes runs due each half a second.
TIMED_MS = 60_000
DUE_TRIES, DUE_AGAIN_S = 20, 0.02


def attempt_wait(lease: Lease, outcome: Outcome, wait: Wait) -> bool | Conflict:
    """Records a failed attempt and lets its run wait. False without the lease, or after a cancel.

    It waits for a worker also when it began in a web process.
    """
    with transaction.atomic():
        waits = _wait(lease, outcome, wait)
        failpoint("retry.before")
        if waits is not True:
            transaction.set_rollback(True)
    failpoint("retry.after")
    return waits


def _wait(lease: Lease, outcome: Outcome, wait: Wait) -> bool | Conflict:
    here = Run.objects.filter(pk=lease.run.pk)
    locked = here.select_for_update() if connection.vendor == "postgresql" else here
    run = locked.filter(status=Status.RUNNING, lease_token=lease.token, cancel_asked_at=None).first()
    if run is None:
        return False
    plans = attempt_plans(run, outcome, traits_of(lease.run))
    plans += [wait.plan] if wait.plan else []
    held = locks_take(plans)
    if conflict := acts_do(plans, run, held):
        return conflict
    for kind, data in outcome.told:
        event_next(run, kind, data)
    event_next(run, wait.kind, {"attempt": lease.attempt, "code": outcome.error_code, **wait.told})
    changes = {}
    if wait.delay_ms is not None:
        # By the database's clock, as the steward compares with it.
        changes["due_at"] = Now() + timedelta(milliseconds=wait.delay_ms)
    transition(
        here,
        source=Status.RUNNING,
        target=wait.target,
        who="finish",
        lease_token=None,
        inline=False,
        events_count=run.events_count,
        **changes,
    )
    attempt_end(lease, outcome, delay_ms=wait.delay_ms)
    if wait.delay_ms is not None and wait.delay_ms <= TIMED_MS:
        seconds = wait.delay_ms / 1000
        transaction.on_commit(lambda: timers.TIMERS.after(seconds, functools.partial(_due_at_once, run.pk)))
    return after_do(plans, run, held) or True


def _due_at_once(run_id: UUID) -> None:
    """Makes a run due by this process's timer: the steward looks only now and then."""
    for _ in range(DUE_TRIES):
        rows = Run.objects.filter(pk=run_id, status=Status.WAITING_RETRY)
        if not rows.exists():
            return
        if rows.filter(due_at__lte=Now()).exists():
            with transaction.atomic():
                _make_due([run_id])
            return
        time.sleep(DUE_AGAIN_S)  # the database's clock is behind this one


def attempts_repeated(run: Run) -> int:
    """How many attempts failed and were repeated; those whose worker was lost are the reaper's to count."""
    return 0 if run.attempt == 1 else Attempt.objects.filter(run=run, delay_ms__isnull=False).count()


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
