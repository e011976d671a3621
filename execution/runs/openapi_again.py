"""What the API's description says of retry, replay and cleanup."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiResponse

from core.openapi import answers
from execution.runs.openapi import ACCEPTED_ANSWER, KEY, PREFER, RESULT_ANSWER

_HASH = {"type": ["string", "null"], "description": "SHA-256 of the canonical result, in hex."}
_SIDE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "version": {"type": "string"},
        "status": {"type": "string"},
        "result_hash": _HASH,
        "error_code": {"type": ["string", "null"]},
    },
    "required": ["version", "status", "result_hash", "error_code"],
}
REPLAY_BODY: dict[str, Any] = {
    "type": "object",
    "properties": {
        "version": {
            "type": "string",
            "description": "Another version of the tool; the run's own by default.",
        },
        "again": {
            "type": "boolean",
            "description": "Carry out again also what has effects or does not repeat itself.",
        },
    },
    "additionalProperties": False,
}
REPLAY_ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "same": {"type": ["boolean", "null"], "description": "null until the replay has its outcome."},
        "recorded": {"type": "boolean", "description": "The recording was given; nothing was carried out."},
        "run_id": {"type": "string", "format": "uuid"},
        "replay_run_id": {"type": ["string", "null"], "format": "uuid"},
        "original": _SIDE,
        "replay": _SIDE,
        "difference": {
            "type": "array",
            "maxItems": 50,
            "items": {
                "type": "object",
                "properties": {"pointer": {"type": "string"}, "before": {}, "after": {}},
                "required": ["pointer"],
            },
        },
    },
    "required": ["same", "recorded", "run_id", "replay_run_id", "original", "replay", "difference"],
}
_PROBLEMS = (400, 401, 403, 404, 409, 410, 413, 422, 429, 503)
RETRY: dict[str, Any] = {
    "operation_id": "run_retry",
    "summary": "Make a finished run's request again",
    "description": "A new run of the same version with the same arguments, linked by `metadata.origin`.",
    "request": None,
    "parameters": [PREFER, KEY],
    "responses": answers(
        {200: RESULT_ANSWER, 202: ACCEPTED_ANSWER},
        *_PROBLEMS,
    ),
}
REPLAY: dict[str, Any] = {
    "operation_id": "run_replay",
    "summary": "Replay a finished run and compare",
    "description": (
        "A pure tool that is deterministic, or bounded (it gets the recorded time and chance), is carried "
        "out again. Of any other the recording is the answer, unless `again` is true."
    ),
    "request": {"application/json": REPLAY_BODY},
    "parameters": [PREFER, KEY],
    "examples": [OpenApiExample("another version", value={"version": "1.1.0"}, request_only=True)],
    "responses": answers(
        {
            200: OpenApiResponse(REPLAY_ANSWER, description="The comparison."),
            202: OpenApiResponse(REPLAY_ANSWER, description="The replay is not finished; see Location."),
        },
        *_PROBLEMS,
    ),
}
CLEANUP: dict[str, Any] = {
    "operation_id": "run_cleanup",
    "summary": "Remove what a finished run left on disk",
    "description": "Removes the run's work folder. Run and audit stay. The same twice.",
    "request": None,
    "responses": answers(
        {
            200: OpenApiResponse(
                {"type": "object", "properties": {"cleaned": {"type": "boolean"}}, "required": ["cleaned"]},
                description="Nothing of the run is left on disk.",
            )
        },
        401,
        404,
        409,
        503,
    ),
}
