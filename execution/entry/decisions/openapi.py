"""The forms of POST decisions/simulate as JSON Schemas, and what the API's description says of them."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiResponse

from core.openapi import ERROR, PROBLEMS
from execution.runs.openapi import CALL
from registry.schemas import validator_build

CAPABILITIES_MAX = 100
_NAME = {"type": "string", "minLength": 1, "maxLength": 160}
_CAPABILITIES = {
    "type": "array",
    "maxItems": CAPABILITIES_MAX,
    "items": {"type": "string", "maxLength": 200},
}


def _form(description: str, properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


_ours = CALL["properties"]
FORMS = {
    "call": _form(
        "One call. Without arguments, conditions on them count as met.",
        {
            "persona": _NAME,
            "tool": _NAME,
            "version": _ours["version"],
            "arguments": _ours["arguments"],
            "isolation_level": _ours["isolation_level"],
        },
        "persona",
        "tool",
    ),
    "persona": _form("What a persona can do.", {"persona": _NAME, "after": _NAME}, "persona"),
    "tool": _form("Who can call a tool.", {"tool": _NAME, "after": _NAME}, "tool"),
    "capabilities": _form(
        "Whether capabilities that are held satisfy those that are required.",
        {"required": _CAPABILITIES, "held": _CAPABILITIES},
        "required",
        "held",
    ),
}
VALIDATORS = {name: validator_build(form) for name, form in FORMS.items()}
DECISION: dict[str, Any] = {
    "type": "object",
    "properties": {
        "allowed": {"type": "boolean"},
        "checks": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "verdict": {"type": "string", "enum": ["pass", "warn", "fail"]},
                    "reason": {"type": "string"},
                    "code": {"type": "string"},
                    "remedy": {"type": "string"},
                    "who": {"type": "string"},
                },
            },
        },
    },
}
_ROW = {
    "type": "object",
    "properties": {
        "tool": {"type": "string"},
        "persona": {"type": "string"},
        "version": {"type": "string"},
        "allowed": {"type": "boolean"},
        "code": {"type": ["string", "null"]},
        "reason": {"type": "string"},
        "remedy": {"type": "string"},
        "who": {"type": "string"},
    },
}
ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "persona": {"type": "string"},
        "tool": {"type": "string"},
        "version": {"type": ["string", "null"]},
        "allowed": {"type": "boolean", "description": "Whether the call would be accepted now"},
        "status": {
            "type": "integer",
            "description": "The status of a refusal; 200 for a call that is accepted",
        },
        "decision": {"anyOf": [DECISION, {"type": "null"}]},
        "error": {"anyOf": [ERROR, {"type": "null"}]},
        "errors": {"type": "array", "items": {"type": "object"}},
        "warnings": {"type": "array", "items": {"type": "string"}},
        "tools": {"type": "array", "items": _ROW},
        "personas": {"type": "array", "items": _ROW},
        "next": {"type": ["string", "null"], "description": "Give it as `after` for the next page."},
        "reason": {"type": ["string", "null"], "description": "Why the list is empty."},
    },
}
_MEANING = """
Asks the same function as a call does, and runs and records nothing. Four questions: one call (`persona`,
`tool`); what a persona can do (`persona`); who can call a tool (`tool`); whether capabilities satisfy others
(`required`, `held`). An agent asks about its own persona freely; about others it needs the capability
`toolhub:personas`, and a responsible person who may see personas.
"""
_EXAMPLES: dict[str, dict[str, Any]] = {
    "call": {"persona": "researcher", "tool": "echo", "arguments": {"text": "hi"}},
    "persona": {"persona": "researcher"},
    "tool": {"tool": "echo"},
    "capabilities": {"required": ["file:read"], "held": ["file:*"]},
}
SIMULATE: dict[str, Any] = {
    "operation_id": "decisions_simulate",
    "summary": "Ask whether a call would be allowed, and why not",
    "description": _MEANING,
    "request": {"application/json": {"oneOf": list(FORMS.values())}},
    "examples": [OpenApiExample(name, value=body, request_only=True) for name, body in _EXAMPLES.items()],
    "responses": {
        200: OpenApiResponse(ANSWER, description="What would be decided; a denial is no HTTP error here."),
        **{status: PROBLEMS[status] for status in (400, 401, 403, 404, 413, 422, 503)},
    },
}
