"""Beginning: choice, claim, rights and start of a run in one transaction, which stands before any effect."""

import functools
import uuid
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from audit.ledger import event_row
from core.failpoints import failpoint
from core.postgres.pool import is_unsent
from core.rows import row_make
from execution.engine.accept import Accepted, rows_write
from execution.engine.calls.gates import Facts, facts_of, gate, judge, rests_on_cel
from execution.engine.caps import Choice, caps_hold, caps_of
from execution.engine.choice import choice_make
from execution.engine.claim import Lease, claim_make, claim_this, lease_start, start_mark, worker_name
from execution.engine.doubt import LOST, is_begun
from execution.engine.entries import accepted_entry
from execution.engine.events import Step
from execution.engine.finish import TakenBack, run_finish
from execution.engine.room import ROOM
from execution.engine.store import hotpath, hotwork
from execution.models import Attempt, Run, RunEvent, Status
from execution.run_events import CALL_REQUESTED, CLAIMED, STARTED


@dataclass(frozen=True)
class Begun:
    """A run that was claimed. Without a lease it has ended already: it may not start any more."""

    lease: Lease | None


class Refused(Exception):
    """Takes the claim back: what may not start is ended by the long way."""

    def __init__(self, run_id: uuid.UUID) -> None:
        self.run_id = run_id


class _Taken(Exception):
    """Takes the claim back: somebody else took the run, or the last place under its cap."""


class Onward:
    """Begins the next run of a queue by the commit that finishes one before it.

    Only where no transaction is around it; `taken` gives what was begun.
    """

    def __init__(self, queue: str) -> None:
        self._queue = queue
        self._lease: Lease | None = None
        # Whether the commit that began it was answered.
        self._is_sure = False
        self.is_open = hotpath.is_served() and not connection.in_atomic_block

    def begin(self) -> None:
        """Begins the next run, if one is due, in the transaction that finishes another.

        Raises TakenBack, for that to be taken back and done by itself, where the next needs a longer way.
        """
        choice = choice_make(self._queue)
        if choice is None:
            return
        try:
            lease = _begin(choice, alone=True)
        except (Refused, _Taken) as longer:
            raise TakenBack from longer
        failpoint("start.before")
        self._lease, self._is_sure = lease, False
        transaction.on_commit(self._be_sure)

    def _be_sure(self) -> None:
        self._is_sure = True

    def taken(self) -> Lease | None:
        """The run that was begun and is to be carried out now; None where there is none."""
        lease, self._lease = self._lease, None
        if lease and not self._is_sure and not is_begun(lease.run, lease.token):
            return None
        if lease:
            failpoint("start.after")
        return lease


def begin_next(queue: str) -> Begun | None:
    """Begins the fairest due run of a queue; None when nothing is due, or no cap is free."""
    # What is changed in a transaction around this one is not committed.
    alone = not connection.in_atomic_block
    while True:
        lease = None
        try:
            with transaction.atomic():
                choice = choice_make(queue)
                if choice is None:
                    return None
                lease = _begin(choice, alone=alone)
                failpoint("start.before")
        except _Taken:
            continue
        except Refused as refused:
            return Begun(_begin_apart(refused.run_id))
        except LOST:
            if lease is None or not alone or not is_begun(lease.run, lease.token):
                raise
        failpoint("start.after")
        return Begun(lease)


def begin_accepted(run: Run) -> Lease | None:
    """Begins a run in the transaction that accepts it; None where a cap is full.

    Conditions on its arguments were judged a moment ago. Raises Refused when a right was lost since it was
    decided, for the caller's transaction to be taken back.
    """
    choice = Choice(run.pk, run.persona_id, run.tool, run.session, run.at_once)
    try:
        return _begin(choice, fresh=True)
    except _Taken:
        return None


def begin_new(accepted: Accepted) -> Lease | None:
    """Accepts a run and begins it by one statement, as `accept_pending` and `begin_accepted` do by several.

    None where the database has no such way, or a cap has to be counted first.
    """
    run = accepted.run(inline=True)
    if not hotpath.is_served() or caps_of(Choice(run.pk, run.persona_id, run.tool, run.session, run.at_once)):
        return None
    run.status, run.attempt, run.events_count = Status.RUNNING, 1, 3
    run.lease_token, run.started_at = uuid.uuid4(), run.created_at
    number = {"attempt": run.attempt}
    steps: tuple[tuple[str, dict[str, Any]], ...] = (
        (CALL_REQUESTED, {}),
        (CLAIMED, {**number, "worker": worker_name()}),
        (STARTED, number),
    )
    events = [
        row_make(RunEvent, {"run_id": run.pk, "seq": seq, "kind": kind, "at": run.created_at, "data": data})
        for seq, (kind, data) in enumerate(steps, start=1)
    ]
    attempt = Attempt(
        run_id=run.pk,
        number=run.attempt,
        lease_token=run.lease_token,
        worker=worker_name(),
        claimed_at=run.created_at,
        started_at=run.started_at,
    )
    keys = [accepted.key_row(run)] if accepted.key else []
    ledger = event_row(accepted_entry(run, accepted.principal, accepted.grounds))
    ROOM.take(run.queue, run.persona_id, accepted.principal.persona)
    failpoint("accept.before")
    failpoint("start.before")
    try:
        with accepted.spent():
            clock = "lease_ends", _lease_ends(settings.LEASE_S)
            rows_write([run], keys, [attempt], events, [ledger], clock=clock, proof=accepted.proof)
    except LOST as lost:
        if connection.in_atomic_block or is_unsent(lost) or not is_begun(run, run.lease_token):
            raise
    failpoint("start.after")
    return Lease(run, run.lease_token, run.attempt, tuple(events))


@functools.cache
def _lease_ends(seconds: float) -> str:
    """When a lease that begins now ends, by the database's clock."""
    return f"EXTRACT(EPOCH FROM clock_timestamp())::double precision + {float(seconds)}"


def _begin(choice: Choice, *, fresh: bool = False, alone: bool = False) -> Lease:
    if not caps_hold(choice):
        raise _Taken
    at_once = hotpath.is_served()
    lease, facts = _begin_at_once(choice.run_id, alone) if at_once else _begin_by_steps(choice.run_id)
    # No CEL is evaluated in a transaction: such a run is claimed first and judged then.
    if not fresh and rests_on_cel(facts):
        raise Refused(choice.run_id)
    if judge(lease.run, facts, conditions=not fresh) is not None:
        raise Refused(choice.run_id)
    return lease


def _begin_by_steps(run_id: uuid.UUID) -> tuple[Lease, Facts]:
    lease = claim_make(Run.objects.filter(pk=run_id))
    if lease is None:
        raise _Taken
    start_mark(lease)
    return lease, facts_of(lease.run)


def _begin_at_once(run_id: uuid.UUID, alone: bool) -> tuple[Lease, Facts]:
    token, now, worker = uuid.uuid4(), timezone.now(), worker_name()
    begun = hotwork.run_begin(run_id, token, now, worker, alone=alone)
    if begun is None:
        raise _Taken
    run, facts = begun
    number = {"attempt": run.attempt}
    events = (
        Step(1, CALL_REQUESTED, run.created_at, {}),
        Step(2, CLAIMED, now, {**number, "worker": worker}),
        Step(3, STARTED, now, number),
    )
    # A run that has more events behind it than these is finished by reading them.
    known = events if run.events_count == len(events) else None
    return Lease(run, token, run.attempt, known), facts


def _begin_apart(run_id: uuid.UUID) -> Lease | None:
    """Claims first and looks then, so that a run that may not start ends without a start."""
    lease = claim_this(Run(pk=run_id))
    if lease is None:
        return None
    refusal = gate(lease.run)
    if refusal is None:  # the right came back meanwhile, or rests on CEL
        return lease if lease_start(lease) else None
    run_finish(lease, refusal, final=True)
    return None
