"""Reaping: what becomes of a run whose lease is over."""

import functools
import logging
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from core.clock import lease_boot, lease_now
from core.duties.rows import all_or_each, each
from core.failpoints import failpoint
from execution.engine.bells import ring
from execution.engine.events import event_add
from execution.engine.finish import outcome_write
from execution.engine.notices import run_wake
from execution.engine.outcomes import Outcome, failure
from execution.engine.states import transition
from execution.features.effects.apply import Apply, Follows, effects_write, has_effects
from execution.features.retry.judge import attempts_repeated
from execution.models import Attempt, Run, Status
from execution.run_events import LEASE_LOST, RETRY

log = logging.getLogger(__name__)
ATTEMPTS_MAX = 3


def _over() -> QuerySet[Run]:
    boot = lease_boot()
    return Run.objects.filter(Q(lease_ends__lt=lease_now()) | ~Q(lease_boot=boot), status=Status.RUNNING)


def runs_reap() -> int:
    """Takes runs from lost workers; returns how many. At most 100 a call."""
    return each("reaper", _over(), _reap_one)


def _reap_one(run_id: UUID) -> bool:
    try:
        return _reap_this(run_id)
    except Follows as follows:
        return effects_write(follows.run, follows.outcome, functools.partial(_reap_this, run_id))


def _reap_this(run_id: UUID, outcome: Outcome | None = None, apply: Apply | None = None) -> bool:
    """Takes one run from its worker; false where somebody was first. `outcome` and what `apply` does are for
    a run that ends. Raises Follows where it has to be worked out first.
    """
    with transaction.atomic():
        postgres = connection.vendor == "postgresql"
        run = (
            _over()
            .select_related("tool_version")
            .select_for_update(skip_locked=postgres, of=("self",) if postgres else ())
            .filter(pk=run_id)
            .first()
        )
        if run is not None:
            _reap(run, outcome, apply)
            failpoint("reap.before")
    failpoint("reap.after")
    return run is not None


def _reap(run: Run, outcome: Outcome | None, apply: Apply | None) -> None:
    attempt = Attempt.objects.get(run=run, number=run.attempt)
    Attempt.objects.filter(pk=attempt.pk).update(status="lost", finished_at=Now())
    event_add(run.pk, LEASE_LOST, {"attempt": run.attempt, "worker": attempt.worker})
    here = Run.objects.filter(pk=run.pk, lease_token=run.lease_token)
    if attempt.started_at and not (run.tool_version.is_pure or run.tool_version.is_idempotent):
        transition(here, source=Status.RUNNING, target=Status.OUTCOME_UNKNOWN, who="reaper")
        run_wake(run.pk)
        log.error("run %s of %s: outcome unknown", run.pk, run.tool)
    elif (lost := run.attempt - attempts_repeated(run)) >= ATTEMPTS_MAX:
        if outcome is None:
            said = f"The worker died in each of {lost} attempts."
            outcome = failure("WORKER_LOST", said, at=datetime.now(UTC))
            if has_effects(run, outcome):
                raise Follows(run, outcome)
        mine = run.pk, run.lease_token
        outcome_write(*mine, source=Status.RUNNING, who="reaper", outcome=outcome, apply=apply)
    else:
        # A lost run of a web process goes to the workers.
        changes = {
            "due_at": Now(),
            "lease_token": None,
            "lease_ends": None,
            "inline": False,
        }
        transition(here, source=Status.RUNNING, target=Status.PENDING, who="reaper", **changes)
        event_add(run.pk, RETRY, {"attempt": run.attempt + 1})
        transaction.on_commit(lambda: ring(run.queue))


def inline_release(older_than_s: float = 60.0) -> int:
    """Gives runs that a web process accepted and never claimed (it died) to the workers."""
    old = Run.objects.filter(
        inline=True, status=Status.PENDING, created_at__lt=Now() - timedelta(seconds=older_than_s)
    )
    return all_or_each(
        "inline", old, lambda keys: old.filter(pk__in=keys).update(inline=False, due_at=F("created_at"))
    )
