"""The forms of policy as JSON Schemas; requests are held to them, the API's description shows them."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse

from core.openapi import PROBLEMS
from registry.schemas import validator_build
from security.policy.models import Limit
from security.policy.services import ISOLATION

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
LIST: dict[str, Any] = {
    "operation_id": "restrictions_list",
    "summary": "List restrictions and pauses",
    "description": MANAGES,
    "parameters": [
        OpenApiParameter("kind", str, enum=["restriction", "pause"]),
        OpenApiParameter("persona", str, description="Its name."),
        OpenApiParameter("tool", str, description="Its name."),
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
LIFT: dict[str, Any] = {
    "operation_id": "restriction_lift",
    "summary": "End a restriction or a pause",
    "description": MANAGES,
    "request": None,
    "responses": {204: OpenApiResponse(description="It is gone."), **READ_ERRORS},
}
STANDING_FORM = form(
    {
        "isolation": {"type": "string", "enum": list(ISOLATION)},
        "tier": {"type": ["string", "null"], "maxLength": 64},
    }
)
STANDING_VALIDATOR = validator_build(STANDING_FORM)
PERSONA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "title": {"type": "string"},
        "description": {"type": "string"},
        "active": {"type": "boolean"},
        "isolation": {"type": "string", "enum": list(ISOLATION)},
        "tier": {"type": ["string", "null"]},
        "grants": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "capability": {"type": "string"},
                    "reason": {"type": "string"},
                    "expires_at": TIME_OR_NULL,
                    "conditions": {"type": "array", "items": {"type": "object"}},
                },
            },
        },
        "limits": {"type": "array", "items": LIMIT},
        "restrictions": {"type": "array", "items": RESTRICTION},
    },
}
PERSONA_READ: dict[str, Any] = {
    "operation_id": "persona_get",
    "summary": "Read a persona with all that its calls are decided by",
    "description": f"An agent reads its own persona freely. {MANAGES}",
    "responses": {200: OpenApiResponse(PERSONA), **READ_ERRORS},
}
PERSONA_CHANGE: dict[str, Any] = {
    "operation_id": "persona_change",
    "summary": "Change what holds for a persona as a whole",
    "description": f"`isolation` is the least that its calls are held with; empty: as tools ask. {MANAGES}",
    "request": {"application/json": STANDING_FORM},
    "examples": [OpenApiExample("isolation", value={"isolation": "strict"}, request_only=True)],
    "responses": {200: OpenApiResponse(PERSONA), **ERRORS},
}
