"""Beginning: choice, claim, rights and start of a run in one transaction, which stands before any effect."""

import functools
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from django.db import connection, transaction

from audit.ledger import event_row
from core.failpoints import failpoint
from core.postgres.pool import is_unsent
from core.rows import row_make
from execution.engine.accept import accept_plans, rows_write
from execution.engine.accepted import Accepted
from execution.engine.calls.gates import gate, judge, rests_on_cel
from execution.engine.caps import caps_hold, caps_of
from execution.engine.claim import claim_this, lease_start, worker_name
from execution.engine.doubt import LOST, is_begun
from execution.engine.due import Choice
from execution.engine.entries import accepted_entry
from execution.engine.events import Step
from execution.engine.features import Conflict
from execution.engine.finish import run_finish
from execution.engine.lease import Lease
from execution.engine.plans import plans_write
from execution.engine.requests import at_once_of
from execution.engine.room import ROOM
from execution.engine.store import current
from execution.models import Attempt, Run, RunEvent, Status
from execution.run_events import CALL_REQUESTED, CLAIMED, STARTED

NO_RUN = uuid.UUID(int=0)


@dataclass(frozen=True)
class Begun:
    """A run that was claimed. Without a lease it has ended already: it may not start any more."""

    lease: Lease | None


class Unbegun(Enum):
    """Why a run was not begun; its transaction is taken back."""

    TAKEN = "somebody else took it, or the last place under its cap"
    REFUSED = "it may not start: that is ended by the long way"


class Onward:
    """Begins the next run of a queue by the commit that finishes one before it.

    Only where no transaction is around it; `taken` gives what was begun.
    """

    def __init__(self, queue: str) -> None:
        self._queue = queue
        self._lease: Lease | None = None
        # Whether the commit that began it was answered.
        self._is_sure = False
        self.is_open = not connection.in_atomic_block

    def begin(self) -> bool:
        """Begins the next run, if one is due, in the transaction that finishes another.

        False where the next needs a longer way: then that is taken back, and done by itself.
        """
        choice = current.STORE.choose(self._queue)
        if choice is None:
            return True
        lease = _begin(choice, alone=True)
        if isinstance(lease, Unbegun):
            return False
        failpoint("start.before")
        self._lease, self._is_sure = lease, False
        transaction.on_commit(self._be_sure)
        return True

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
        lease: Lease | Unbegun | None = None
        try:
            with transaction.atomic():
                choice = current.STORE.choose(queue)
                if choice is None:
                    return None
                lease = _begin(choice, alone=alone)
                if isinstance(lease, Unbegun):
                    transaction.set_rollback(True)
                failpoint("start.before")
        except LOST:
            if not isinstance(lease, Lease) or not alone or not is_begun(lease.run, lease.token):
                raise
        if lease is Unbegun.REFUSED and choice:
            return Begun(_begin_apart(choice.run_id))
        if isinstance(lease, Lease):
            failpoint("start.after")
            return Begun(lease)


def begin_accepted(run: Run) -> Lease | Unbegun:
    """Begins a run in the transaction that accepts it.

    Conditions on its arguments were judged a moment ago. REFUSED where a right was lost since it was decided.
    """
    return _begin(Choice(run.pk, run.persona_id, run.tool, run.session, run.at_once), fresh=True)


def has_short_way(accepted: Accepted) -> bool:
    """Whether `begin_new` serves the call: the database has its statement, and no cap has to be counted."""
    version, persona_id = accepted.version, accepted.principal.persona_id
    counted = Choice(NO_RUN, persona_id, version.tool.name, accepted.request.session, at_once_of(version))
    return not caps_of(counted)


def begin_new(accepted: Accepted, conflicts: Sequence[Conflict] = ()) -> Lease | Conflict | None:
    """Accepts a run and begins it by one statement, as `accept_pending` and `begin_accepted` do by several.

    None where the call's proof does not hold any more.
    """
    run = accepted.run(inline=True)
    plans = accept_plans(accepted, run, conflicts)
    run.status, run.attempt, run.events_count = Status.RUNNING, 1, 3
    run.lease_token, run.started_at, run.beat_at = uuid.uuid4(), run.created_at, run.created_at
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
    write = functools.partial(rows_write, [run], keys, [attempt], events, [ledger], proof=accepted.proof)
    try:
        written = plans_write(plans, run, write)
    except LOST as lost:
        if connection.in_atomic_block or is_unsent(lost) or not is_begun(run, run.lease_token):
            raise
        written = True
    if written is not True:
        return written or None
    failpoint("start.after")
    return Lease(run, run.lease_token, run.attempt, tuple(events))


def _begin(choice: Choice, *, fresh: bool = False, alone: bool = False) -> Lease | Unbegun:
    if not caps_hold(choice):
        return Unbegun.TAKEN
    begun = current.STORE.begin(choice.run_id, worker_name(), alone=alone)
    if begun is None:
        return Unbegun.TAKEN
    run, facts = begun
    # No CEL is evaluated in a transaction: such a run is claimed first and judged then.
    if not fresh and rests_on_cel(facts):
        return Unbegun.REFUSED
    if judge(run, facts, conditions=not fresh) is not None:
        return Unbegun.REFUSED
    assert run.lease_token  # noqa: S101 - begun just now
    return Lease(run, run.lease_token, run.attempt, _events_known(run))


def _events_known(run: Run) -> tuple[Step, ...] | None:
    """The events of a run that was begun just now; None where it has more than those of a first beginning."""
    number = {"attempt": run.attempt}
    at = run.started_at or run.created_at
    events = (
        Step(1, CALL_REQUESTED, run.created_at, {}),
        Step(2, CLAIMED, at, {**number, "worker": worker_name()}),
        Step(3, STARTED, at, number),
    )
    return events if run.events_count == len(events) else None


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
