"""What is asked again between claim and start: do the rights still hold, and is there time left?"""

import dataclasses
import functools
from datetime import UTC, datetime
from typing import Any

from execution.engine.calls.person import person_lost
from execution.engine.facts import Facts, facts_of
from execution.engine.features import LIFE
from execution.engine.outcomes import Outcome, failure
from execution.models import Run, Status
from execution.side_effects import SideEffect
from registry.selectors import call_decide
from security.capabilities import holders
from security.decisions import APPROVED
from security.policy.selectors import policy_at_start


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
    unbegun = functools.partial(failure, at=now, side_effect=SideEffect.NONE)
    if run.cancel_asked_at:
        return unbegun("CANCELLED", "The run was cancelled before it started.", status=Status.CANCELLED)
    if rights is None:
        return unbegun("PERMISSION_DENIED", "Refused before the start: nobody answers for this run.")
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
        decision = call_decide(principal, found, **known, approved=_settled(run))
    if decision.allowed and ("hook" in run.request or decision.asks is None):
        lost = person_lost(run)
        words = f"Refused before the start: {lost} may not call {run.tool} as {principal.persona} any more."
        return unbegun("PERMISSION_DENIED", words) if lost else None
    failed = decision.failure or decision.asks
    code = failed.code if failed else "PERMISSION_DENIED"
    code = "PERMISSION_DENIED" if code in {"TOOL_NOT_FOUND", "UNAUTHENTICATED"} else code
    reason = failed.reason if failed else "The decision changed."
    details = {"decision": decision.as_dict()}
    return unbegun(code, f"Refused before the start: {reason}", details=details)


def _settled(run: Run) -> str:
    """Who settled what the decision asks about this run; empty where nobody did."""
    return next(filter(None, (settled(run) for settled in LIFE.acting("settled"))), "")
