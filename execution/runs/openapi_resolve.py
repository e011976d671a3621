"""What the API's description says of runs that wait for a person."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter

from execution.runs.openapi import RESULT
from execution.runs.verdicts import REASON_MAX, Verdict
from registry.installations.openapi import answers
from registry.schemas import validator_build

_TEXT: dict[str, Any] = {"type": "string"}
_AGENT = "An agent needs toolhub:runs, and acts for its responsible person."
UNRESOLVED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "run_id": {"type": "string", "format": "uuid"},
        "persona": _TEXT,
        "tool": _TEXT,
        "version": _TEXT,
        "status": _TEXT,
        "arguments": {"type": "object"},
        "started_at": {"type": ["string", "null"], "format": "date-time"},
        "attempts": {"type": "integer"},
        "undone_by": {
            "type": "array",
            "items": _TEXT,
            "description": "The tools that compensate would call, in their order.",
        },
    },
}
LIST: dict[str, Any] = {
    "operation_id": "runs_unresolved",
    "summary": "List runs that a person has to resolve",
    "description": f"The oldest first. {_AGENT}",
    "parameters": [OpenApiParameter("after", str, description="The `next` of the page before.")],
    "responses": answers(
        200,
        {
            "type": "object",
            "properties": {
                "runs": {"type": "array", "items": UNRESOLVED},
                "next": {"type": ["string", "null"]},
            },
        },
        "At most 50.",
        422,
    ),
}
BODY: dict[str, Any] = {
    "type": "object",
    "properties": {
        "as": {"type": "string", "enum": list(Verdict)},
        "reason": {"type": "string", "minLength": 1, "maxLength": REASON_MAX, "description": "How you know."},
        "result": {"description": "What the tool returned, where that is known; with done and compensate."},
    },
    "required": ["as", "reason"],
    "additionalProperties": False,
}
VALIDATOR = validator_build(BODY)
ACT: dict[str, Any] = {
    "operation_id": "run_resolve",
    "summary": "Say what became of a run",
    "description": (
        "done completes it, not_done fails it, compensate has it undone by the tools that its effects name, "
        f"anew makes its request again as a new run. {_AGENT} A persona does not resolve its own runs."
    ),
    "request": {"application/json": BODY},
    "examples": [
        OpenApiExample(
            "undone", value={"as": "compensate", "reason": "Half of it is there."}, request_only=True
        )
    ],
    "responses": answers(
        200,
        {
            "type": "object",
            "properties": {
                "run": RESULT,
                "new_run_id": {"type": ["string", "null"], "format": "uuid", "description": "Where anew."},
            },
            "required": ["run", "new_run_id"],
        },
        "The run with its outcome.",
        400,
        404,
        409,
        410,
        413,
        422,
        429,
    ),
}
