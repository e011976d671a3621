"""What the API's description says of POST execute: a form and an example per operation, answers, errors."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse

from core.openapi import ERROR, PROBLEMS
from execution.entry.operations.forms import FORMS, OPERATIONS
from execution.runs.openapi import PRECONDITIONS

_RESULT: dict[str, Any] = {
    "type": "object",
    "description": "A result; for discover a tool, for validate what was found of a call",
    "properties": {
        "index": {"type": "integer", "description": "The call's place in the request, from 0"},
        "id": {"type": "string"},
        "tool_name": {"type": "string"},
        "execution_id": {"type": ["string", "null"], "description": "The run's id; null when refused"},
        "status": {
            "type": ["string", "null"],
            "enum": ["success", "failure", "timeout", "cancelled", None],
            "description": "null while the run goes on",
        },
        "output": {},
        "metadata": {"type": "object"},
        "duration_ms": {"type": ["number", "null"]},
        "resources_used": {"type": "object"},
        "decision": {"type": ["object", "null"]},
        "preconditions": PRECONDITIONS,
        "error": {"anyOf": [ERROR, {"type": "null"}]},
    },
}
_STEP: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "index": {"type": "integer"},
        "tool_name": {"type": "string"},
        "depends_on": {"type": "array", "items": {"type": "string"}},
        "status": {"type": ["string", "null"], "description": "A result's word, or skipped"},
        "reason": {"type": ["string", "null"], "description": "Why it was skipped"},
    },
}
ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "operation": {"type": "string", "enum": list(OPERATIONS)},
        "status": {
            "type": "string",
            "enum": ["pending", "running", "completed", "failed", "cancelled", "timeout"],
        },
        "results": {"type": "array", "items": _RESULT},
        "orchestration_result": {"type": ["object", "null"]},
        "metadata": {"type": "object"},
        "errors": {"type": "array", "items": ERROR},
        "warnings": {"type": "array", "items": {"type": "object"}},
        "chain_id": {"type": "string", "format": "uuid"},
        "overall_status": {"type": ["string", "null"], "enum": ["success", "partial", "failure", None]},
        "flow": {
            "type": "object",
            "properties": {
                "type": {"type": "string"},
                "order": {"type": "string"},
                "steps": {"type": "array", "items": _STEP},
            },
        },
        "total_duration_ms": {"type": "number"},
        "total_resources": {"type": "object"},
    },
    "required": [
        "operation",
        "status",
        "results",
        "orchestration_result",
        "metadata",
        "errors",
        "warnings",
    ],
}
_EXAMPLES: dict[str, Any] = {
    "execute_single": {"parameters": {"toolName": "echo", "arguments": {"text": "hello"}}},
    "execute_chain": {
        "order": "auto",
        "calls": [
            {
                "id": "digest",
                "toolName": "hash",
                "mapping": {"text": {"from": "said", "pointer": "/text"}},
            },
            {"id": "said", "toolName": "echo", "arguments": {"text": "hello"}},
        ],
    },
    "orchestrate": {},
    "discover": {"filter": {"category": ["data"], "pattern": "^json"}},
    "validate": {"parameters": {"toolName": "echo", "arguments": {"text": 1}}},
}
_MEANINGS = """\
`execute_single` carries out one call as `POST tools/{name}/execute` does. `execute_chain` carries out calls
one after the other while the caller waits, with `order: auto` sorted by what they depend on; what refuses one
call stands in that call's result. `discover` lists tools by the filters of `GET tools`. `validate` says
whether calls would be accepted, and runs nothing. `orchestrate` comes with compositions and answers
NOT_AVAILABLE until then.
"""
_HEADERS = [
    OpenApiParameter(
        "Prefer",
        str,
        OpenApiParameter.HEADER,
        description="`wait=N`: seconds to wait, at most 120, a chain in all. `respond-async`: one call only.",
    ),
    OpenApiParameter(
        "Idempotency-Key",
        str,
        OpenApiParameter.HEADER,
        description="Repeating a call or a chain with the same key returns its runs.",
    ),
]
OPERATION: dict[str, Any] = {
    "operation_id": "execute",
    "summary": "Carry out an operation: one call, a chain, discover, validate",
    "description": _MEANINGS,
    "request": {"application/json": {"oneOf": list(FORMS.values())}},
    "parameters": _HEADERS,
    "examples": [
        OpenApiExample(name, value={"operation": name, **members}, request_only=True)
        for name, members in _EXAMPLES.items()
    ],
    "responses": {
        200: OpenApiResponse(ANSWER, description="What came of it; a tool's failure is no HTTP error."),
        202: OpenApiResponse(ANSWER, description="A run goes on; see Location."),
        **{status: PROBLEMS[status] for status in (400, 401, 403, 404, 409, 413, 422, 429, 503)},
    },
}
