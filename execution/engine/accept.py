"""Accepting a call: run, idempotency key and ledger event in one transaction."""

import contextlib
import hashlib
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connection, models, transaction
from django.db.models.functions import Now
from django.utils import timezone

from audit.ledger import event_row
from core.clock import uuid7
from core.failpoints import failpoint
from core.json.canonical import canonical
from core.rows import row_make
from execution.engine.bells import RINGER
from execution.engine.brief import brief_steps
from execution.engine.calls.checks import Checked
from execution.engine.calls.requests import Bounds, CallRequest, at_once_of
from execution.engine.entries import accepted_entry, outcome_entry
from execution.engine.events import events_digest
from execution.engine.outcomes import Outcome, outcome_set
from execution.engine.room import ROOM
from execution.engine.store import hotpath
from execution.models import IdempotencyKey, Run, RunEvent, Status
from execution.run_events import CALL_REQUESTED
from execution.runners.registry import RUNTIMES
from registry.models import ToolVersion
from security.content.violation import Violation
from security.facts import LimitFact
from security.policy.usage import booked_later, limits_spend
from security.principals import PersonaPrincipal

KEY_LIVES = timedelta(hours=24)


@dataclass(frozen=True)
class Accepted:
    """A call that passed every check, ready to be written. `arguments` is their canonical form."""

    principal: PersonaPrincipal
    version: ToolVersion
    request: CallRequest
    bounds: Bounds
    arguments: bytes
    warnings: tuple[str, ...]
    # What allowed it, in the decision's words, for the record.
    grounds: tuple[str, ...] = ()
    # What looks like an attack in the arguments, where that is recorded only.
    violations: tuple[Violation, ...] = ()
    # What it counts against when it is accepted.
    limits: tuple[LimitFact, ...] = ()
    key: str | None = None
    # What has to hold yet when it is written; None where that was read for this call.
    proof: hotpath.Proof | None = None

    def run(self, *, inline: bool) -> Run:
        """The row, not yet written."""
        now = timezone.now()
        columns = {
            "id": uuid7(),
            "persona_id": self.principal.persona_id,
            "token_id": self.principal.token_id,
            "responsible_id": None if self.principal.token_id else self.principal.responsible_id,
            "origin_id": self.request.origin,
            "parent_id": self.request.parent,
            "root": self.request.root,
            "depth": self.request.depth,
            "tool_version_id": self.version.pk,
            "tool": self.version.tool.name,
            "status": Status.PENDING,
            "queue": RUNTIMES[self.version.runner].queue,
            "session": self.request.session,
            "at_once": at_once_of(self.version),
            "inline": inline,
            "arguments": self.request.arguments,
            "arguments_hash": hashlib.sha256(self.arguments).digest(),
            "salt": secrets.token_bytes(16),
            "request": self._recorded(),
            "timeout_ms": self.bounds.timeout_ms,
            "max_output_bytes": self.bounds.max_output_bytes,
            "warnings": list(self.warnings),
            "created_at": now,
            "due_at": now,
            "metered": booked_later(self.limits, self.principal.persona_id),
        }
        run = row_make(Run, columns)
        run.tool_version = self.version
        return run

    @contextlib.contextmanager
    def spent(self) -> Iterator[None]:
        """What is written within it counts against the limits, in one transaction. Raises LimitReached first.

        Calls that have no limit go without a transaction of their own.
        """
        if not self.limits:
            yield
            return
        with transaction.atomic():
            limits_spend(self.limits, self.principal.persona_id)
            yield

    def _recorded(self) -> dict[str, Any]:
        """The request with the isolation that is in force, which the persona may have made stricter, and
        with what looks like an attack in the arguments.
        """
        wanted = self.bounds.isolation
        found = [one.as_dict() for one in self.violations]
        more = {"isolation_level": wanted, "violations": found}
        return self.request.recorded() | {name: value for name, value in more.items() if value}

    def key_row(self, run: Run) -> IdempotencyKey:
        """The idempotency key's row; two of one key and persona cannot both be written."""
        return IdempotencyKey(
            persona_id=self.principal.persona_id,
            key=self.key or "",
            request_hash=self.request_hash(),
            run=run,
            expires_at=timezone.now() + KEY_LIVES,
        )

    def request_hash(self) -> bytes:
        """SHA-256 over tool, version, the whole request and the run that it repeats."""
        whole: dict[str, Any] = {"arguments": self.request.arguments, "version": self.version.digest}
        if self.request.origin:
            whole["origin"] = str(self.request.origin)
        return hashlib.sha256(canonical(whole | self.request.recorded())).digest()


def accepted_of(
    principal: PersonaPrincipal,
    checked: Checked,
    key: str | None = None,
    proof: hotpath.Proof | None = None,
) -> Accepted:
    """A call that was checked, as it is written."""
    return Accepted(
        principal=principal,
        version=checked.found.version,
        request=checked.request,
        bounds=checked.bounds,
        arguments=checked.arguments,
        warnings=checked.warnings,
        grounds=checked.decision.grounds,
        violations=checked.decision.violations,
        limits=checked.found.policy.limits,
        key=key,
        proof=proof,
    )


def accept_pending(accepted: Accepted, *, inline: bool) -> Run:
    """Writes a run that waits for a worker, or for this process when `inline`. Raises Overloaded.

    IntegrityError when the idempotency key was used meanwhile.
    """
    run = accepted.run(inline=inline)
    run.events_count = 1
    keys = [accepted.key_row(run)] if accepted.key else []
    event = RunEvent(run_id=run.pk, seq=1, kind=CALL_REQUESTED, at=run.created_at)
    ledger = event_row(accepted_entry(run, accepted.principal, accepted.grounds))
    ROOM.take(run.queue, run.persona_id, accepted.principal.persona)
    failpoint("accept.before")
    # Due by the clock that claims compare with: this host's may be wrong by hours.
    with accepted.spent():
        rows_write([run], keys, [event], [ledger], clock=("due_at", "statement_timestamp()"))
    if not inline:
        transaction.on_commit(lambda: run_ring(run.queue))
    failpoint("accept.after")
    return run


def run_hand_over(run: Run) -> None:
    """Gives a run that was meant for this process to the workers, in the caller's transaction."""
    Run.objects.filter(pk=run.pk).update(inline=False)
    transaction.on_commit(lambda: run_ring(run.queue))


def run_ring(queue: str) -> None:
    """Wakes a worker for one run that is due."""
    failpoint("ring.before")
    RINGER.ring_for_one(queue)


def accept_finished(accepted: Accepted, run: Run, outcome: Outcome) -> Run:
    """Writes a run together with its outcome, in one transaction of a few statements.

    Only for built-in tools that are pure and use no network: nothing has happened that a lost
    transaction could leave behind. Raises Outdated, with nothing written, where its proof does not hold.
    """
    actor = accepted.principal.actor
    run.is_brief, run.attempt, run.started_at = True, 1, outcome.started_at
    steps = brief_steps(run, outcome.event, outcome.ended_at)
    run.events_count = len(steps)
    ledger = [
        event_row(accepted_entry(run, accepted.principal, accepted.grounds)),
        event_row(outcome_entry(run, outcome, events_digest(steps), actor)),
    ]
    outcome_set(run, outcome, outcome.ended_at, ledger[1])
    keys = [accepted.key_row(run)] if accepted.key else []
    failpoint("short.before")
    rows_write([run], keys, ledger, proof=accepted.proof)
    failpoint("short.after")
    return run


def rows_write(
    *groups: Sequence[models.Model],
    clock: hotpath.Clock | None = None,
    proof: hotpath.Proof | None = None,
) -> None:
    """All rows or none: by one statement where the hot path is served, else by the ORM.

    `clock` and `proof` are for hotpath.rows_insert; the ORM fills the clock's column with the database's
    time, and there is a proof only where the hot path is served.
    """
    filled = [group for group in groups if group]
    if hotpath.is_served():
        # One statement is a transaction of its own. Within one of the caller's, an idempotency key that was
        # used meanwhile must not spoil that: so it gets a savepoint.
        keyed = any(isinstance(group[0], IdempotencyKey) for group in filled)
        with transaction.atomic() if keyed and connection.in_atomic_block else contextlib.nullcontext():
            hotpath.rows_insert(filled, clock=clock, proof=proof)
        return
    with transaction.atomic():
        for group in filled:
            for row in group:
                if clock and hasattr(row, clock[0]):
                    setattr(row, clock[0], Now())
            type(group[0])._default_manager.bulk_create(group)
