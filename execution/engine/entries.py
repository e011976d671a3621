"""The ledger's entries about runs: accepted and outcome for each, and what was refused."""

from collections.abc import Mapping, Sequence
from typing import Any

from audit.ledger import Entry, commitment
from core.actors import SYSTEM, Actor
from execution.engine.outcomes import Outcome
from execution.event_kinds import RUN_ACCEPTED, RUN_OUTCOME, RUN_REFUSED
from execution.models import Run
from security.principals import PersonaPrincipal


def accepted_entry(run: Run, principal: PersonaPrincipal, grounds: Sequence[str]) -> Entry:
    """`run.accepted`: who called which exact version, what allowed it, a blinded digest of the arguments.

    Also what looks like an attack in them.
    """
    data = {
        "tool": run.tool,
        "version": run.tool_version.version,
        "version_digest": run.tool_version.digest,
        "arguments": commitment(bytes(run.salt), bytes(run.arguments_hash)),
        "responsible": principal.responsible,
        "allowed_by": list(grounds),
    }
    if found := run.request.get("violations"):
        data["violations"] = found
    return Entry(RUN_ACCEPTED, principal.actor, "tool", run.tool, data, run.pk)


def outcome_entry(run: Run, outcome: Outcome, events_digest: bytes, actor: Actor = SYSTEM) -> Entry:
    """`run.outcome`: status, error code, what held the tool, and blinded digests of result and events."""
    result_hash = outcome.result_hash
    data: dict[str, Any] = {
        "tool": run.tool,
        "version": run.tool_version.version,
        "status": outcome.status.value,
        "attempts": run.attempt,
        "duration_ms": outcome.duration_ms,
        "events": commitment(bytes(run.salt), events_digest),
    }
    if result_hash:
        data["result"] = commitment(bytes(run.salt), result_hash)
    if outcome.sandbox:
        data["sandbox"] = dict(outcome.sandbox)
    if outcome.side_effect:
        data["side_effect"] = outcome.side_effect.value
    if outcome.error:
        data["error_code"] = outcome.error_code
    return Entry(RUN_OUTCOME, actor, "tool", run.tool, data, run.pk)


def refused_entry(principal: PersonaPrincipal, tool: str, code: str, why: Mapping[str, Any]) -> Entry:
    """`run.refused`: a call that was not accepted, with the decision or the pointers, never the arguments."""
    return Entry(
        RUN_REFUSED,
        principal.actor,
        "tool",
        tool[:64],
        {"code": code, "responsible": principal.responsible, **why},
    )
