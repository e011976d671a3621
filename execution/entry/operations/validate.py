"""validate: all that comes before execution, and nothing else."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from core.errors import ToolHubError, error_object
from execution.engine.calls.checks import Checked, call_check, denied
from execution.entry.operations.order import calls_ordered
from execution.entry.operations.requests import ToolCall, call_read, calls_read
from execution.entry.operations.words import Answer, Span, answer_body, refusal_view
from execution.features.preconditions.check import failed_descriptions, preconditions_check
from registry.selectors import call_decide
from security.decisions import Decision
from security.policy.usage import policy_told
from security.principals import PersonaPrincipal


def calls_validate(principal: PersonaPrincipal, body: Mapping[str, Any]) -> Answer:
    """Says of each call whether it would be accepted now. Nothing runs and nothing is recorded.

    Raises ToolHubError (422) for a request that does not fit.
    """
    span = Span()
    chained = "calls" in body
    calls = calls_ordered(calls_read(body), body.get("order", "given")) if chained else [call_read(body)]
    results = [_checked(principal, call) for call in calls]
    valid = all(result["status"] == "success" for result in results)
    return Answer(answer_body("validate", "completed", results, span=span, metadata={"valid": valid}))


def _checked(principal: PersonaPrincipal, call: ToolCall) -> dict[str, Any]:
    """The result for one call. The values of mapped arguments are not known, so they are not looked at."""
    who = {"index": call.index, "id": call.id, "tool_name": call.name}
    try:
        checked = call_check(principal, call.name, call.request, open_arguments=call.mapping)
        decision = _counted(principal, checked, call)
    except ToolHubError as error:
        view = refusal_view(error, call)
        decision = view["details"].pop("decision", None)
        told = {"decision": decision, "preconditions": None, "metadata": {}, "error": view}
        return {**who, "status": "failure", **told}
    told = {
        "version": checked.found.version.version,
        "timeout_ms": checked.bounds.timeout_ms,
        "max_output_bytes": checked.bounds.max_output_bytes,
        "warnings": list(checked.warnings),
    }
    answer = _preconditions(principal, checked, call)
    failed = None
    if answer and not answer["can_proceed"]:
        message = f"What has to hold before {checked.found.name} does not."
        failed = error_object("PRECONDITION_FAILED", message, suggestions=failed_descriptions(answer))
    status = "failure" if failed else "success"
    return {
        **who,
        "status": status,
        "decision": decision.as_dict(),
        "preconditions": answer,
        "metadata": told,
        "error": failed,
    }


def _counted(principal: PersonaPrincipal, checked: Checked, call: ToolCall) -> Decision:
    """The decision with what is used of limits, last as for a call. Raises ToolHubError where one is full."""
    found = checked.found
    if not found.policy.limits:
        return checked.decision
    found = dataclasses.replace(found, policy=policy_told(found.policy, principal.persona_id))
    known = None if call.mapping else checked.request.arguments
    decision = call_decide(principal, found, arguments=known, session=checked.request.session)
    if failed := decision.failure:
        raise denied(failed, decision)
    return decision


def _preconditions(principal: PersonaPrincipal, checked: Checked, call: ToolCall) -> dict[str, Any] | None:
    """What a run would find now; None for a tool without preconditions."""
    version = checked.found.version
    if "preconditions" not in version.extras:
        return None
    request = call.request
    return preconditions_check(
        version, principal.persona_id, principal, request.arguments, request.recorded()
    )
