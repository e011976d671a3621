"""Accepting a call: run, idempotency key and ledger event in one transaction."""

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import models, transaction

from audit.ledger import event_row
from core.failpoints import failpoint
from core.rows import row_make
from execution.engine.accepted import Accepted
from execution.engine.bells import RINGER
from execution.engine.brief import brief_steps
from execution.engine.calls.checks import Checked
from execution.engine.entries import accepted_entry, outcome_entry
from execution.engine.events import events_digest
from execution.engine.features import ASKS, LIFE, LIMITS, NONE, Conflict, Plan, Traits
from execution.engine.outcomes import Outcome, outcome_set
from execution.engine.plans import planned, plans_write
from execution.engine.room import ROOM
from execution.engine.store import current
from execution.engine.store.interface import Clock
from execution.engine.store.known import Proof
from execution.models import Run, RunEvent
from execution.run_events import CALL_REQUESTED
from execution.side_effects import SideEffect
from security.principals import PersonaPrincipal


def accepted_of(
    principal: PersonaPrincipal,
    checked: Checked,
    key: str | None = None,
    proof: Proof | None = None,
) -> Accepted:
    """A call that was checked, as it is written."""
    return Accepted(
        principal=principal,
        found=checked.found,
        request=checked.request,
        bounds=checked.bounds,
        arguments=checked.arguments,
        warnings=checked.warnings,
        grounds=checked.decision.grounds,
        violations=checked.decision.violations,
        # A hook is no call yet.
        asks=None if checked.request.hook else checked.decision.asks,
        key=key,
        proof=proof,
    )


def accept_traits(accepted: Accepted) -> Traits:
    """The traits of a call that is accepted now."""
    traits: Traits = NONE if accepted.request.hook else accepted.version.extras
    if accepted.asks:
        traits |= {ASKS}
    return traits | {LIMITS} if accepted.limits else traits


def accept_plans(accepted: Accepted, run: Run, conflicts: Sequence[Conflict]) -> list[Plan]:
    """What features want written with the run. Raises ToolHubError where one of them refuses the call."""
    hooks = LIFE.acting("at_accept", accept_traits(accepted))
    return [plan for hook in hooks if (plan := hook(accepted, run, conflicts))]


def accept_pending(accepted: Accepted, *, inline: bool) -> Run | Conflict:
    """Writes a run that waits: for a worker, for this process when `inline`, or for what a feature says.

    A stale Conflict, and nothing written, where what the call was decided on has changed or its proof does
    not hold. Raises Overloaded, ToolHubError where a feature refuses it, IntegrityError for a used key.
    """
    return planned(functools.partial(_pending, accepted, inline))


def _pending(accepted: Accepted, inline: bool, conflicts: Sequence[Conflict]) -> Run | Conflict:
    run = accepted.run(inline=inline)
    plans = accept_plans(accepted, run, conflicts)
    run.status = next((plan.status for plan in plans if plan.status), run.status)
    steps: list[tuple[str, Mapping[str, Any]]] = [(CALL_REQUESTED, {})]
    steps += [event for plan in plans for event in plan.events]
    run.events_count = len(steps)
    events = [
        row_make(
            RunEvent, {"run_id": run.pk, "seq": seq, "kind": kind, "at": run.created_at, "data": dict(data)}
        )
        for seq, (kind, data) in enumerate(steps, start=1)
    ]
    entries = [accepted_entry(run, accepted.principal, accepted.grounds)]
    entries += [entry for plan in plans for entry in plan.entries]
    keys = [accepted.key_row(run)] if accepted.key else []
    rows = [row for plan in plans for row in plan.rows]
    is_due = not any(plan.status for plan in plans)
    if is_due:
        ROOM.take(run.queue, run.persona_id, accepted.principal.persona)

    def write() -> bool:
        # By the clock that claims compare with: this host's may be wrong by hours.
        clock = {"due_at": 0.0, "deadline_at": accepted.bounds.deadline_ms / 1000}
        ledger = [event_row(entry) for entry in entries]
        groups: list[Sequence[models.Model]] = [[run], keys, events, ledger, *([row] for row in rows)]
        return rows_write(*groups, clock=clock, proof=accepted.proof)

    failpoint("accept.before")
    written = plans_write(plans, run, write)
    if written is not True:
        return written or Conflict(is_stale=True)
    if is_due and not run.inline:
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


def accept_finished(accepted: Accepted, run: Run, outcome: Outcome) -> bool:
    """Writes a run together with its outcome, in one transaction of a few statements.

    Only for built-in tools that are pure and use no network: nothing has happened that a lost
    transaction could leave behind. False, with nothing written, where its proof does not hold.
    """
    # It is pure.
    outcome = dataclasses.replace(outcome, side_effect=SideEffect.NONE)
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
    written = rows_write([run], keys, ledger, proof=accepted.proof)
    failpoint("short.after")
    return written


def rows_write(
    *groups: Sequence[models.Model], clock: Clock | None = None, proof: Proof | None = None
) -> bool:
    """All rows or none, as `Store.rows_write`; groups may be empty."""
    return current.STORE.rows_write([group for group in groups if group], clock=clock, proof=proof)
