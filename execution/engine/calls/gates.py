"""What is asked again between claim and start: do the rights still hold, and is there time left?"""

import dataclasses
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from execution.engine.calls.person import person_lost
from execution.engine.outcomes import Outcome, failure
from execution.features.approvals.binding import approved_by
from execution.models import Run, Status
from registry.selectors import ResolvedTool, call_decide, tool_resolve_version
from security.capabilities import holders
from security.decisions import APPROVED
from security.facts import TokenState
from security.models import Persona, User
from security.policy.selectors import policy_at_start
from security.principals import PersonaPrincipal
from security.tokens import principal_of, principal_of_persona

Rights = tuple[PersonaPrincipal, TokenState]


@dataclass(frozen=True)
class Facts:
    """Whose rights a run stands on now, and the version with what assigns it now."""

    rights: Rights | None
    found: ResolvedTool


def facts_of(run: Run) -> Facts:
    """The facts, read by the ORM."""
    return Facts(rights_of(run), tool_resolve_version(run.tool_version, run.persona_id))


def rests_on_cel(facts: Facts) -> bool:
    """Whether a grant that could allow the run has a condition in CEL."""
    if facts.rights is None:
        return False
    needs = facts.found.version.required_capabilities
    # What it needs, and what would approve it in advance.
    wanted = {name for needed in needs for name in holders(needed)}
    wanted |= {APPROVED, f"{APPROVED}:*", f"{APPROVED}:{facts.found.name}"}
    return any(
        condition["kind"] == "cel"
        for grant in facts.rights[0].grants
        if grant.capability in wanted
        for condition in grant.conditions
    )


def gate(run: Run) -> Outcome | None:
    """The outcome that ends a claimed run before its start, or None when it may start.

    Only rights are asked again. What expired after the call was accepted does not matter; what
    was revoked does.
    """
    return judge(run, facts_of(run))


def judge(run: Run, facts: Facts, *, conditions: bool = True) -> Outcome | None:
    """The same by what was read already. Without `conditions` those on arguments count as met."""
    rights, found = facts.rights, facts.found
    now = datetime.now(UTC)
    if run.cancel_asked_at:
        return failure(
            "CANCELLED", "The run was cancelled before it started.", at=now, status=Status.CANCELLED
        )
    if run.deadline_at and run.deadline_at <= now:
        return failure(
            "TIMEOUT", "The run's deadline passed before it could start.", at=now, status=Status.TIMEOUT
        )
    if rights is None:
        return failure("PERMISSION_DENIED", "Refused before the start: nobody answers for this run.", at=now)
    principal, state = rights
    found = dataclasses.replace(found, policy=policy_at_start(found.policy))
    # A hook is called without arguments: nothing that conditions could look at.
    arguments = None if "hook" in run.request or not conditions else run.arguments
    known: dict[str, Any] = {
        "arguments": arguments,
        "token_state": state,
        "at": run.created_at,
        "session": run.session,
    }
    decision = call_decide(principal, found, **known)
    if decision.allowed and decision.asks and "hook" not in run.request:
        decision = call_decide(principal, found, **known, approved=approved_by(run))
    if decision.allowed and ("hook" in run.request or decision.asks is None):
        lost = person_lost(run)
        words = f"Refused before the start: {lost} may not call {run.tool} as {principal.persona} any more."
        return failure("PERMISSION_DENIED", words, at=now) if lost else None
    failed = decision.failure or decision.asks
    code = failed.code if failed else "PERMISSION_DENIED"
    code = "PERMISSION_DENIED" if code in {"TOOL_NOT_FOUND", "UNAUTHENTICATED"} else code
    reason = failed.reason if failed else "The decision changed."
    return failure(
        code, f"Refused before the start: {reason}", at=now, details={"decision": decision.as_dict()}
    )


def rights_of(run: Run) -> Rights | None:
    """Whose rights count now: the token's, else the persona's with who answers for the run, if anybody."""
    if run.token_id is not None:
        return principal_of(run.token_id)
    responsible = User.objects.filter(pk=run.responsible_id).first() if run.responsible_id else None
    if responsible is None:
        return None
    return principal_of_persona(Persona.objects.get(pk=run.persona_id), responsible), "none"
