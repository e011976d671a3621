"""Finishing: what becomes of an attempt's outcome, written once, under the lease."""

import functools
import logging
import time
from collections.abc import Callable

from django.conf import settings
from django.db import Error, close_old_connections, transaction
from django.utils import timezone

from audit.ledger import event_row
from core.failpoints import failpoint
from execution.engine.entries import outcome_entry
from execution.engine.events import Step, event_add, events_digest
from execution.engine.features import FILES, LIFE, Conflict, traits_of, with_trait
from execution.engine.lease import Lease
from execution.engine.notices import run_wake
from execution.engine.outcomes import Outcome, outcome_set
from execution.engine.plans import TRIES
from execution.engine.settle import run_settle
from execution.engine.side_effects import outcome_judged
from execution.engine.store import current
from execution.engine.wait import attempt_wait
from execution.models import Attempt, Status
from execution.run_events import LATE_RESULT

log = logging.getLogger(__name__)
AGAIN_S = 0.5
# Done in the finishing transaction; false where it needs one of its own, and nothing of it may stand.
Follow = Callable[[], bool]


def run_finish(lease: Lease, outcome: Outcome, *, final: bool = False, follow: Follow | None = None) -> bool:
    """Writes the outcome if the lease still holds; retried with the lease while the database is away.

    Features may let the run wait instead, unless it is `final`. `follow` is done by the same commit where the
    tool is pure, so that nothing is lost with it.

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
    traits = traits_of(lease.run)
    if not final:
        said = _after_attempt(lease, outcome)
        if said is None:
            return True
        outcome = said
    plain = not LIFE.acting("at_outcome", with_trait(traits, FILES) if outcome.files else traits)
    plain = plain and not LIFE.acting("at_attempt_end", traits) and not again
    return (plain and _finish_at_once(lease, outcome, follow)) or _finish_leased(lease, outcome, final=final)


def _after_attempt(lease: Lease, outcome: Outcome) -> Outcome | None:
    """The outcome that the run ends with; None where it waits instead."""
    for hook in LIFE.acting("after_attempt", traits_of(lease.run)):
        conflicts: list[Conflict] = []
        while len(conflicts) < TRIES:
            said = hook(lease, outcome, conflicts)
            if isinstance(said, Outcome):
                outcome = said
                break
            waits = attempt_wait(lease, outcome, said)
            if waits is True:
                return None
            if waits is False:  # it was cancelled, or the lease is lost
                break
            conflicts.append(waits)
    return outcome


def _finish_at_once(lease: Lease, outcome: Outcome, follow: Follow | None) -> bool:
    """By the fewest statements, where the run has only the events that the lease knows."""
    run = lease.run
    if lease.events is None or outcome.told:
        return False
    outcome = outcome_judged(run, outcome)
    now = timezone.now()
    last = Step(len(lease.events) + 1, outcome.event, now, {})
    ledger = event_row(outcome_entry(run, outcome, events_digest([*lease.events, last])))
    failpoint("finish.before")
    write = functools.partial(current.STORE.finish, run, lease.token, outcome, now, ledger)
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
            fits = follow()
            if not fits:
                transaction.set_rollback(True)
    except Error:
        raise  # tried again by run_finish
    except Exception:
        # A mistake over what follows must not cost this run its outcome.
        log.exception("what was to follow by the same commit failed")
        return write()
    return fits or write()


def _is_written(lease: Lease) -> bool:
    """Whether an earlier try wrote the outcome, and only the answer to its commit was lost."""
    mine = Attempt.objects.filter(run=lease.run, lease_token=lease.token, finished_at__isnull=False)
    # By its end, not its status: an effect that failed made another outcome of it.
    return mine.exclude(status="lost").exists()


def _finish_leased(lease: Lease, outcome: Outcome, *, final: bool) -> bool:
    late = outcome.status in {Status.COMPLETED, Status.FAILED}
    sources = [Status.RUNNING, *([Status.OUTCOME_UNKNOWN] if late else [])]
    # What ends a run before its tool has worked is no outcome that anything follows from.
    traits = traits_of(lease.run) - (lease.run.tool_version.extras if final else frozenset())
    if run_settle(lease.run, outcome, sources=sources, who="finish", lease=lease, traits=traits):
        return True
    with transaction.atomic():
        event_add(lease.run.pk, LATE_RESULT, {"attempt": lease.attempt, "status": outcome.status})
    log.warning("run %s: attempt %s came too late", lease.run.pk, lease.attempt)
    return False
