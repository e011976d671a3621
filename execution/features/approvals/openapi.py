"""What the API's description says of approvals."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter

from execution.features.approvals.decide import HOURS_MAX, REASON_MAX
from execution.models import Verdict
from registry.installations.openapi import answers
from registry.schemas import validator_build

_TEXT: dict[str, Any] = {"type": "string"}
_MAYBE: dict[str, Any] = {"type": ["string", "null"]}
_TIME: dict[str, Any] = {"type": ["string", "null"], "format": "date-time"}
APPROVAL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "run_id": {"type": "string", "format": "uuid"},
        "persona": _TEXT,
        "responsible": _TEXT,
        "tool": _TEXT,
        "version": _TEXT,
        "version_digest": _TEXT,
        "arguments": {"type": "object"},
        "arguments_hash": _TEXT,
        "request": {"type": "object", "description": "What else the caller asked for."},
        "why": _TEXT,
        "asked_at": _TIME,
        "expires_at": _TIME,
        "delegate": _MAYBE,
        "decision": {"type": ["string", "null"], "enum": [*Verdict, None]},
        "decided_at": _TIME,
        "decided_by": _MAYBE,
        "reason": _TEXT,
    },
}
_REASON = {"type": "string", "maxLength": REASON_MAX}
GRANT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reason": _REASON,
        "hours": {
            "type": "integer",
            "minimum": 1,
            "maximum": HOURS_MAX,
            "description": "Approves later calls of the tool by the persona, too; needs a reason.",
        },
        "session": {
            "type": "boolean",
            "description": "Of later calls only those in the session of this one; for 8 hours unless said, "
            "for 24 at most.",
        },
    },
    "additionalProperties": False,
}
DENY: dict[str, Any] = {
    "type": "object",
    "properties": {"reason": {**_REASON, "minLength": 1}},
    "required": ["reason"],
    "additionalProperties": False,
}
DELEGATE: dict[str, Any] = {
    "type": "object",
    "properties": {"to": {"type": "string", "minLength": 1, "maxLength": 150}},
    "required": ["to"],
    "additionalProperties": False,
}
VALIDATORS = {
    name: validator_build(body) for name, body in (("approve", GRANT), ("deny", DENY), ("delegate", DELEGATE))
}
LIST: dict[str, Any] = {
    "operation_id": "approvals_list",
    "summary": "List calls that wait for approval",
    "description": "The oldest first. An agent needs toolhub:approvals, and acts for its responsible person.",
    "parameters": [OpenApiParameter("after", str, description="The `next` of the page before.")],
    "responses": answers(
        200,
        {"type": "object", "properties": {"approvals": {"type": "array", "items": APPROVAL}, "next": _MAYBE}},
        "At most 50.",
        422,
    ),
}
READ: dict[str, Any] = {
    "operation_id": "approval_get",
    "summary": "Read a request for approval",
    "responses": answers(200, APPROVAL, "The request, with the exact call.", 404),
}


def act(operation: str, summary: str, body: Any) -> dict[str, Any]:
    """An answer to a request."""
    return {
        "operation_id": operation,
        "summary": summary,
        "request": {"application/json": body},
        "responses": answers(200, APPROVAL, "As it is now.", 400, 404, 409, 413, 422),
    }
