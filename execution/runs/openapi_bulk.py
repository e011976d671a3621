"""The API's description of cancelling many runs."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiResponse

from core.openapi import PROBLEMS
from execution.runs.bulk_cancel import BATCH, STOPPABLE
from registry.schemas import validator_build

_TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
BODY: dict[str, Any] = {
    "title": "Runs to cancel",
    "type": "object",
    "description": "Runs match when they match every member.",
    "properties": {
        "status": {
            "type": "string",
            "enum": ["open", "waiting", *(status.value for status in STOPPABLE)],
            "description": "`open`: all that have no outcome; `waiting`: those of them that do not run.",
        },
        "tool": {**_TEXT, "maxLength": 64, "description": "The tool's name."},
        "session": {**_TEXT, "maxLength": 128, "description": "The session that called."},
        "since": {
            "type": "integer",
            "minimum": 1,
            "maximum": 9999,
            "description": "Accepted in the last so many hours.",
        },
        "persona": {
            **_TEXT,
            "maxLength": 64,
            "description": "The caller's own persona by default. For another one an agent needs toolhub:runs "
            "and acts for its responsible person.",
        },
    },
    "minProperties": 1,
    "additionalProperties": False,
}
VALIDATOR = validator_build(BODY)
CANCEL_ALL: dict[str, Any] = {
    "operation_id": "runs_cancel",
    "summary": "Cancel all runs that match a filter",
    "description": f"A request cancels up to {BATCH} runs, the oldest first; repeat it while `more` is true.",
    "request": {"application/json": BODY},
    "examples": [OpenApiExample("waiting", value={"status": "waiting", "tool": "echo"}, request_only=True)],
    "responses": {
        200: OpenApiResponse(
            {
                "type": "object",
                "properties": {
                    "cancelled": {"type": "integer", "description": "Runs that were asked to stop."},
                    "failed": {
                        "type": "integer",
                        "description": "Runs that could not be asked.",
                    },
                    "more": {"type": "boolean", "description": "Whether more runs match."},
                },
                "required": ["cancelled", "failed", "more"],
            },
            description="Runs that wait have their outcome; those that run are stopped by their worker.",
        ),
        **{status: PROBLEMS[status] for status in (400, 401, 403, 404, 413, 422, 503)},
    },
}
