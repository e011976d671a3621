"""Ending a run: its outcome, and all that follows from it, in one transaction."""

import dataclasses
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from audit.ledger import event_row, rows_write
from core.actors import SYSTEM, Actor
from core.failpoints import failpoint
from execution.engine.entries import outcome_entry
from execution.engine.events import event_next, events_digest
from execution.engine.features import FILES, LIFE, Conflict, Plan, Traits, traits_of, with_trait
from execution.engine.lease import Lease
from execution.engine.notices import run_wake
from execution.engine.outcomes import Outcome, failure
from execution.engine.plans import TRIES, acts_do, after_do, locks_take
from execution.engine.side_effects import attempt_effect, outcome_judged
from execution.engine.states import transition
from execution.models import Attempt, Run, RunEvent, Status

log = logging.getLogger(__name__)
# Asked once the run's row is locked, before all else: false leaves the run as it is.
Before = Callable[[Run], bool]


def outcome_plans(
    run: Run, outcome: Outcome, traits: Traits, conflicts: Sequence[Conflict]
) -> tuple[Outcome, list[Plan]]:
    """What follows from an outcome, and the outcome that it then is. Outside of any transaction."""
    plans = []
    for hook in LIFE.acting("at_outcome", with_trait(traits, FILES) if outcome.files else traits):
        plan = hook(run, outcome, conflicts)
        if plan is not None:
            plans.append(plan)
            outcome = plan.outcome or outcome
    return outcome, plans


def run_settle(
    run: Run,
    outcome: Outcome,
    *,
    sources: Sequence[Status],
    who: str,
    actor: Actor = SYSTEM,
    lease: Lease | None = None,
    traits: Traits | None = None,
    before: Before | None = None,
    among: QuerySet[Run] | None = None,
) -> bool:
    """Move a run from one of `sources` to its outcome, with all that follows, and with event and ledger.

    `run` is the row as it was read, without a lock; with `lease` its attempt ends with it. `traits` are for a
    run whose contract has no say in this. False where the row is not as it was read, or not `among` those:
    somebody else was first, and nothing was written.
    """
    traits = traits_of(run) if traits is None else traits
    conflicts: list[Conflict] = []
    while True:
        if len(conflicts) < TRIES:
            final, plans = outcome_plans(run, outcome_judged(run, outcome), traits, conflicts)
        else:  # its features cannot agree: the run ends without them, and says so
            log.error("run %s: what follows from its outcome could not be written", run.pk)
            crowded = failure("EFFECT_FAILED", CROWDED, at=datetime.now(UTC))
            final, plans = outcome_judged(run, crowded), []
        if lease or not run.attempt:  # else no attempt ends with it
            plans += attempt_plans(run, final, traits)
        with transaction.atomic():
            locked = run_locked(run, sources, lease.token if lease else run.lease_token, among)
            written: bool | Conflict = False
            if locked is not None and (before is None or before(locked)):
                written = _write(locked, final, plans, who, actor, traits)
            if written is True and lease:
                # Of the attempt alone: the run's outcome speaks of all of them.
                attempt_end(lease, dataclasses.replace(final, side_effect=attempt_effect(run, outcome)))
            if written is not True:
                transaction.set_rollback(True)
        if not isinstance(written, Conflict):
            return written
        conflicts.append(written)


CROWDED = "What follows from the outcome could not be written: others changed the same again and again."


def run_locked(
    run: Run, sources: Sequence[Status], token: UUID | None, among: QuerySet[Run] | None = None
) -> Run | None:
    """The run's row, locked; None where it is not as it was read, or is in none of these states."""
    rows = Run.objects.all() if among is None else among
    rows = rows.select_related("tool_version").filter(
        pk=run.pk, status__in=sources, lease_token=token, attempt=run.attempt
    )
    postgres = connection.vendor == "postgresql"
    skips = postgres and among is not None
    return rows.select_for_update(of=("self",) if postgres else (), skip_locked=skips).first()


def _write(
    run: Run,
    outcome: Outcome,
    plans: Sequence[Plan],
    who: str,
    actor: Actor,
    traits: Traits,
) -> bool | Conflict:
    """In the caller's transaction, which holds the run."""
    held = locks_take(plans)
    if conflict := acts_do(plans, run, held):
        return conflict
    before = list(RunEvent.objects.filter(run_id=run.pk).order_by("seq"))
    before += [event_next(run, kind, data) for kind, data in outcome.told]
    digest = events_digest([*before, event_next(run, outcome.event)])
    ledger = event_row(outcome_entry(run, outcome, digest, actor))
    transition(
        Run.objects.filter(pk=run.pk),
        source=Status(run.status),
        target=outcome.status,
        who=who,
        outcome_leaf=ledger.leaf,
        **_columns(run, outcome),
    )
    rows_write([ledger])
    if conflict := after_do(plans, run, held):
        return conflict
    run_wake(run.pk)
    failpoint("finish.before")
    return True


def attempt_plans(run: Run, outcome: Outcome, traits: Traits) -> list[Plan]:
    """What features want written because an attempt ends."""
    hooks = LIFE.acting("at_attempt_end", traits)
    return [plan for hook in hooks if (plan := hook(run, outcome))]


def attempt_end(lease: Lease, outcome: Outcome, *, delay_ms: int | None = None) -> None:
    """Writes how an attempt ended, in the caller's transaction, after the run's row: the order of locks."""
    Attempt.objects.filter(run=lease.run, lease_token=lease.token).update(
        finished_at=outcome.ended_at,
        status=outcome.status,
        error_code=outcome.error_code,
        error=outcome.error,
        duration_ms=outcome.duration_ms,
        side_effect=outcome.side_effect or attempt_effect(lease.run, outcome),
        delay_ms=delay_ms,
    )


def _columns(run: Run, outcome: Outcome) -> dict[str, Any]:
    """What the run's row says of its end."""
    return {
        "completed_at": timezone.now(),
        "duration_ms": outcome.duration_ms,
        # A failed run has one where an effect failed: the tool did its work.
        "result": outcome.data,
        "result_hash": outcome.result_hash,
        "error": outcome.error,
        "resources": dict(outcome.resources),
        "sandbox": outcome.sandbox,
        "side_effect": outcome.side_effect or "",
        "warnings": [*run.warnings, *outcome.warnings],
        "events_count": run.events_count,
    }
