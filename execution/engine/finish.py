"""Finishing: the outcome of a run, written once, under the lease."""

import functools
import logging
import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import Error, close_old_connections, connection, transaction
from django.utils import timezone

from audit.ledger import event_row, rows_write
from core.actors import SYSTEM, Actor
from core.failpoints import failpoint
from execution.engine.booking import attempt_book
from execution.engine.claim import Lease
from execution.engine.entries import outcome_entry
from execution.engine.events import Step, event_add, event_next, events_digest
from execution.engine.notices import run_wake
from execution.engine.outcomes import Outcome, outcome_set
from execution.engine.states import transition
from execution.engine.store import hotpath, hotwork
from execution.features.artefacts.services import artefacts_keep
from execution.features.callbacks.owed import callback_owe
from execution.features.effects.apply import Apply, effects_write, has_effects
from execution.features.recovery.begin import recovery_begin
from execution.features.retry.judge import retry_judge
from execution.features.retry.wait import attempt_end, retry_wait
from execution.models import Attempt, Run, RunEvent, Status
from execution.run_events import LATE_RESULT

log = logging.getLogger(__name__)
AGAIN_S = 0.5
Follow = Callable[[], None]


class TakenBack(Exception):
    """What was to be done in the finishing transaction needs one of its own."""


def run_finish(lease: Lease, outcome: Outcome, *, final: bool = False, follow: Follow | None = None) -> bool:
    """Writes the outcome if the lease still holds; retried with the lease while the database is away.

    A failed attempt that the tool's policy repeats lets the run wait instead, unless it is `final`.
    `follow` is done by the same commit where the tool is pure, so that nothing is lost with it. It may raise
    TakenBack.

    A result that comes too late is an event; it is the outcome only where the run is
    outcome_unknown and no newer attempt was made.
    """
    ends = time.monotonic() + settings.LEASE_S
    again = False
    while True:
        try:
            written = _finish(lease, outcome, final=final, again=again, follow=follow)
            failpoint("finish.after")
            return written
        except Error:
            if time.monotonic() > ends:
                raise
            log.warning("the outcome of run %s waits for the database", lease.run.pk)
            time.sleep(AGAIN_S)
            close_old_connections()
            again = True


def _finish(lease: Lease, outcome: Outcome, *, final: bool, again: bool, follow: Follow | None) -> bool:
    if again and _is_written(lease):
        return True
    if not final:
        outcome, delay_ms = retry_judge(lease.run, outcome)
        if delay_ms is not None and retry_wait(lease, outcome, delay_ms):
            return True
        if "recovery" in lease.run.tool_version.extras:
            recovered = recovery_begin(lease, outcome)
            if recovered is None:
                return True
            outcome = recovered
        if has_effects(lease.run, outcome):
            return effects_write(lease.run, outcome, functools.partial(_finish_leased, lease))
    return (not again and _finish_at_once(lease, outcome, follow)) or _finish_leased(lease, outcome)


def _finish_at_once(lease: Lease, outcome: Outcome, follow: Follow | None) -> bool:
    """By one statement, where the hot path is served and the run has only the events that the lease knows."""
    run = lease.run
    if (
        not hotpath.is_served()
        or lease.events is None
        or run.request.get("callback_url")
        or outcome.told
        or run.metered
    ):
        return False
    now = timezone.now()
    last = Step(len(lease.events) + 1, outcome.event, now, {})
    ledger = event_row(outcome_entry(run, outcome, events_digest([*lease.events, last])))
    failpoint("finish.before")
    write = functools.partial(hotwork.finished_write, run, lease.token, outcome, now, ledger)
    if not (_write_and(write, follow) if follow and run.tool_version.is_pure else write()):
        return False
    run_wake(run.pk)
    outcome_set(run, outcome, now, ledger)
    run.events_count += 1
    return True


def _write_and(write: Callable[[], bool], follow: Follow) -> bool:
    try:
        with transaction.atomic():
            if not write():
                return False
            follow()
            return True
    except TakenBack:
        return write()
    except Error:
        raise  # tried again by run_finish
    except Exception:
        # A mistake over what follows must not cost this run its outcome.
        log.exception("what was to follow by the same commit failed")
        return write()


def _is_written(lease: Lease) -> bool:
    """Whether an earlier try wrote the outcome, and only the answer to its commit was lost."""
    mine = Attempt.objects.filter(run=lease.run, lease_token=lease.token, finished_at__isnull=False)
    # By its end, not its status: an effect that failed made another outcome of it.
    return mine.exclude(status="lost").exists()


def _finish_leased(lease: Lease, outcome: Outcome, apply: Apply | None = None) -> bool:
    mine = lease.run.pk, lease.token
    write = functools.partial(outcome_write, *mine, who="finish", outcome=outcome, apply=apply)
    late = outcome.status in {Status.COMPLETED, Status.FAILED}
    with transaction.atomic():
        if write(source=Status.RUNNING) or (late and write(source=Status.OUTCOME_UNKNOWN)):
            attempt_end(lease, outcome)
            return True
        event_add(lease.run.pk, LATE_RESULT, {"attempt": lease.attempt, "status": outcome.status})
    log.warning("run %s: attempt %s came too late", lease.run.pk, lease.attempt)
    return False


def outcome_write(
    run_id: UUID,
    token: UUID | None,
    *,
    source: Status,
    who: str,
    outcome: Outcome,
    actor: Actor = SYSTEM,
    apply: Apply | None = None,
) -> bool:
    """Moves a run from `source` to its outcome, with event and ledger, in the caller's transaction.

    `apply` does what follows from the outcome, once the run's row is locked.

    False when the run is not in `source` with this lease token: somebody else was first.
    """
    run = _run_locked(run_id, source, token)
    if run is None:
        return False
    if apply:
        apply(run)
    before = list(RunEvent.objects.filter(run_id=run_id).order_by("seq"))
    before += [event_next(run, kind, data) for kind, data in outcome.told]
    digest = events_digest([*before, event_next(run, outcome.event)])
    ledger = event_row(outcome_entry(run, outcome, digest, actor))
    transition(
        Run.objects.filter(pk=run_id),
        source=source,
        target=outcome.status,
        who=who,
        outcome_leaf=ledger.leaf,
        **_columns(run, outcome),
    )
    if outcome.files:
        artefacts_keep(run_id, outcome.files)
    rows_write([ledger])
    if token or not run.attempt:  # else no attempt ends, and the one before is booked
        attempt_book(run, outcome)
    callback_owe(run)
    run_wake(run_id)
    failpoint("finish.before")
    return True


def _run_locked(run_id: UUID, source: Status, token: UUID | None) -> Run | None:
    rows = Run.objects.select_related("tool_version").filter(pk=run_id, status=source, lease_token=token)
    return rows.select_for_update(of=("self",) if connection.vendor == "postgresql" else ()).first()


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
        "warnings": [*run.warnings, *outcome.warnings],
        "events_count": run.events_count,
    }
