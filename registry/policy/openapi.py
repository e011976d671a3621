"""The forms of policy as JSON Schemas; requests are held to them, the API's description shows them."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse

from core.openapi import PROBLEMS
from registry.schemas import validator_build
from security.policy.models import Limit

NAME = {"type": "string", "minLength": 1, "maxLength": 64}
TIME = {"type": "string", "maxLength": 40, "description": "RFC 3339, with its offset"}
TIME_OR_NULL = {"type": ["string", "null"], "format": "date-time"}
REASON = {"type": "string", "minLength": 1, "maxLength": 200}
ERRORS = {status: PROBLEMS[status] for status in (400, 401, 403, 404, 409, 413, 422, 503)}
READ_ERRORS = {status: PROBLEMS[status] for status in (401, 403, 404, 422, 503)}
AFTER = OpenApiParameter("after", str, description="The `next` of the page before.")


def form(properties: dict[str, Any], *required: str, description: str = "") -> dict[str, Any]:
    """An object of exactly these members."""
    made = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
    return made | ({"description": description} if description else {})


def page_of(name: str, row: dict[str, Any]) -> dict[str, Any]:
    """A list's answer."""
    rows = {"type": "array", "items": row}
    return {"type": "object", "properties": {name: rows, "next": {"type": ["string", "null"]}}}


SET_BY: dict[str, Any] = {
    "type": "object",
    "description": "Who set which safeguard last, by field",
    "additionalProperties": {
        "type": "object",
        "properties": {"by": {"type": "string"}, "at": {"type": "string", "format": "date-time"}},
    },
}
RESTRICTION: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "kind": {"type": "string", "enum": ["restriction", "pause"]},
        "persona": {"type": ["string", "null"]},
        "tool": {"type": ["string", "null"]},
        "capability": {"type": ["string", "null"]},
        "reason": {"type": "string"},
        "created_by": {"type": "string"},
        "created_at": {"type": "string", "format": "date-time"},
        "expires_at": TIME_OR_NULL,
    },
}
LIMIT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "kind": {"type": "string", "enum": Limit.Kind.values},
        "measure": {"type": "string", "enum": Limit.Measure.values},
        "amount": {"type": "integer"},
        "window_s": {"type": "integer"},
        "persona": {"type": ["string", "null"]},
        "tier": {"type": ["string", "null"]},
        "tool": {"type": ["string", "null"]},
        "created_by": {"type": "string"},
        "created_at": {"type": "string", "format": "date-time"},
        "changed_by": {"type": ["string", "null"]},
        "changed_at": {**TIME_OR_NULL, "description": "When it was last changed; null if never"},
        "used": {"type": ["number", "null"], "description": "With a persona: what it has used of it"},
        "resets_at": {**TIME_OR_NULL, "description": "When the window is over; null before its first call"},
    },
}
_NAMED = {"persona": NAME, "tool": NAME}
RESTRICTION_FORM = form(
    {
        **_NAMED,
        "capability": {"type": "string", "minLength": 1, "maxLength": 120},
        "reason": REASON,
        "expires_at": TIME,
    },
    "reason",
    description="Denies calls that fit all of persona, tool and capability that are given.",
)
PAUSE_FORM = form(
    {**_NAMED, "reason": REASON, "expires_at": TIME},
    "reason",
    description="Pauses the persona or the tool; the whole hub when neither is given.",
)
RESTRICTION_VALIDATOR, PAUSE_VALIDATOR = validator_build(RESTRICTION_FORM), validator_build(PAUSE_FORM)
MANAGES = "The caller needs the capability `toolhub:personas`, and a responsible person with the permission."


def operation(
    name: str,
    summary: str,
    answer: Any,
    *,
    body: dict[str, Any] | None = None,
    example: dict[str, Any] | None = None,
    status: int = 200,
    said: str = "",
) -> dict[str, Any]:
    """What `extend_schema` takes of an operation that manages the hub; `answer` None is an empty one."""
    errors = ERRORS if body else READ_ERRORS
    made: dict[str, Any] = {
        "operation_id": name,
        "summary": summary,
        "description": f"{said} {MANAGES}".strip(),
        "request": {"application/json": body} if body else None,
        "responses": {status: OpenApiResponse(answer, description="Done."), **errors},
    }
    if example is not None:
        made["examples"] = [OpenApiExample("example", value=example, request_only=True)]
    return made


LIST: dict[str, Any] = {
    "operation_id": "restrictions_list",
    "summary": "List restrictions and pauses",
    "description": MANAGES,
    "parameters": [
        OpenApiParameter("kind", str, enum=["restriction", "pause"]),
        OpenApiParameter("persona", str, description="Its name."),
        OpenApiParameter("tool", str, description="Its name."),
        OpenApiParameter("q", str, description="A part of one of these names, or of the reason."),
        AFTER,
    ],
    "responses": {200: OpenApiResponse(page_of("restrictions", RESTRICTION)), **READ_ERRORS},
}
CREATE: dict[str, Any] = {
    "operation_id": "restriction_create",
    "summary": "Deny calls from the next one on, whatever is granted",
    "description": MANAGES,
    "request": {"application/json": RESTRICTION_FORM},
    "examples": [
        OpenApiExample(
            "capability", value={"capability": "file:delete", "reason": "Legal hold"}, request_only=True
        )
    ],
    "responses": {201: OpenApiResponse(RESTRICTION), **ERRORS},
}
PAUSE: dict[str, Any] = {
    "operation_id": "pause_begin",
    "summary": "Pause a persona, a tool or the hub",
    "description": f"Calls are refused with PAUSED; accepted runs that wait go on waiting. {MANAGES}",
    "request": {"application/json": PAUSE_FORM},
    "examples": [OpenApiExample("tool", value={"tool": "echo", "reason": "An incident"}, request_only=True)],
    "responses": {201: OpenApiResponse(RESTRICTION), **ERRORS},
}
READ = operation("restriction_get", "Read a restriction or a pause", RESTRICTION)
LIFT: dict[str, Any] = {
    "operation_id": "restriction_lift",
    "summary": "End a restriction or a pause",
    "description": MANAGES,
    "request": None,
    "responses": {204: OpenApiResponse(description="It is gone."), **READ_ERRORS},
}
