"""Carrying a claimed run out: runner and finish. Used by workers and by web processes alike."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime

from execution.engine.begin import Onward, begin_next
from execution.engine.call import call_of
from execution.engine.calls.gates import gate
from execution.engine.claim import lease_start
from execution.engine.features import LIFE, traits_of
from execution.engine.finish import Follow, run_finish
from execution.engine.heart import HEART
from execution.engine.lease import Lease
from execution.engine.outcomes import Outcome, failure
from execution.engine.partials import Partials
from execution.models import Status

log = logging.getLogger(__name__)


def queue_work(queue: str, *, is_over: Callable[[], bool] = bool) -> int:
    """Carries out what is due in a queue until nothing is; returns how many runs that were.

    Once it `is_over`, none is begun any more.
    """
    done = 0
    onward = Onward(queue)
    while not is_over() and (begun := begin_next(queue)) is not None:
        done += 1
        lease = begun.lease
        while lease:
            goes_on = onward.is_open and not is_over()
            run_carry_out(lease, follow=onward.begin if goes_on else None)
            lease = onward.taken()
            done += lease is not None
    return done


def run_perform(lease: Lease, *, inline: bool = False) -> bool:
    """Takes a claimed run to its outcome. True when this attempt's outcome was recorded."""
    refusal = gate(lease.run)
    if refusal is not None:
        return run_finish(lease, refusal, final=True)
    if not lease_start(lease):
        log.warning("run %s: the lease was lost before the start", lease.run.pk)
        return False
    return run_carry_out(lease, inline=inline)


def run_carry_out(lease: Lease, *, inline: bool = False, follow: Follow | None = None) -> bool:
    """Takes a run whose start is committed to its outcome. True when this attempt's outcome was recorded.

    `follow` is for `run_finish`.
    """
    call = call_of(lease.run, inline=inline, attempt=lease.attempt)
    partials = Partials(lease)
    call.emit, call.tell = partials.add, partials.tell
    with HEART.beating(lease, call):
        call.moment = lease.run.started_at
        for prepare in LIFE.acting("before_start", traits_of(lease.run)):
            said = prepare(lease, call)
            if isinstance(said, Outcome):
                return run_finish(lease, said, final=True)
            if said is not None:
                log.warning("run %s: the lease was lost before the tool began", lease.run.pk)
                return False
        try:
            outcome = LIFE.call_run(call)
        except Exception:
            # A runner promises never to raise; if it does, that is our mistake and still one outcome.
            log.exception("the runner of run %s failed", lease.run.pk)
            outcome = failure("INTERNAL", "The runner made a mistake. It is logged.", at=datetime.now(UTC))
        if call.lost and outcome.status is Status.CANCELLED:
            # Stopped half-way because the lease was lost: the reaper decides, by what the tool may have done.
            log.warning("run %s: attempt %s was stopped with its lease", lease.run.pk, lease.attempt)
            return False
        return run_finish(lease, outcome, follow=follow)
