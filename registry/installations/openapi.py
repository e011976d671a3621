"""What the API's description says of installations."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse

from core.openapi import PROBLEMS
from registry.installations.models import STEPS, SourceType, Status

_TEXT: dict[str, Any] = {"type": "string"}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}
_MAYBE: dict[str, Any] = {"type": ["string", "null"]}
SOURCE: dict[str, Any] = {
    "type": "object",
    "description": "`ref` and `path` belong to git, `digest` (the zip's SHA-256 in hex) to url.",
    "properties": {
        "type": {"type": "string", "enum": [SourceType.GIT.value, SourceType.URL.value]},
        "location": {"type": "string", "minLength": 1, "maxLength": 2000},
        "ref": {"type": "string", "maxLength": 200},
        "path": {"type": "string", "maxLength": 240},
        "digest": {"type": "string", "maxLength": 71},
    },
    "required": ["type", "location"],
    "additionalProperties": False,
}
TEAM: dict[str, Any] = {
    "type": ["string", "null"],
    "maxLength": 64,
    "description": "One of your teams. Until the package is published, you and this team see the "
    "installation; a new package then belongs to the team. Default: your team, if you are in exactly one. "
    "null: no team.",
}
START_BODY: dict[str, Any] = {
    "type": "object",
    "properties": {"source": SOURCE, "team": TEAM},
    "required": ["source"],
    "additionalProperties": False,
}
APPROVAL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "digest": {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "The digest that you saw."},
        "activate": {
            "type": "boolean",
            "description": "Put the release in use. Unless it is given, `activation.proposed` of the"
            " installation decides: true for a release that is newer than the one in use and no pre-release.",
        },
        "reviewed": {
            "type": "boolean",
            "description": "You read its code: it may run at the sandbox level `process`.",
        },
        "names": {
            "type": "object",
            "description": "Names in the hub for tools whose own are taken; those given before are kept.",
            "additionalProperties": {"type": "string", "maxLength": 64},
            "maxProperties": 500,
        },
    },
    "required": ["digest"],
    "additionalProperties": False,
}
ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "success": {"type": ["boolean", "null"], "description": "null until it has ended."},
        "tool_name": {**_MAYBE, "description": "The package's name."},
        "version": _MAYBE,
        "dependencies": _TEXTS,
        "warnings": _TEXTS,
        "errors": _TEXTS,
        "id": {"type": "string", "format": "uuid"},
        "status": {"type": "string", "enum": Status.values},
        "step": {"type": "string", "enum": list(STEPS)},
        "steps": {"type": "array", "items": {"type": "object"}},
        "source": {"type": "object"},
        "digest": _MAYBE,
        "error": {"type": ["object", "null"]},
        "report": {"type": "object", "description": "What a reviewer needs."},
        "release": {"type": ["integer", "null"]},
        "asked_by": {"type": "object"},
        "activation": {
            "type": ["object", "null"],
            "description": "At the review: whether the release is put in use without a choice, and why not.",
            "properties": {"proposed": {"type": "boolean"}, "reason": _TEXT},
        },
        "team": {**_MAYBE, "description": "The team that it belongs to."},
        "review_ends_at": {**_MAYBE, "description": "When it is given up unless somebody decides before."},
        "created_at": {"type": "string", "format": "date-time"},
        "finished_at": _MAYBE,
    },
    "required": [
        "success",
        "tool_name",
        "version",
        "dependencies",
        "warnings",
        "errors",
        "id",
        "status",
        "step",
    ],
}


# In lists, what stands in the report is left out.
_IN_REPORT = ("dependencies", "warnings", "report")
BRIEF: dict[str, Any] = {
    **ANSWER,
    "properties": {name: one for name, one in ANSWER["properties"].items() if name not in _IN_REPORT},
    "required": [name for name in ANSWER["required"] if name not in _IN_REPORT],
}


def answers(status: int, schema: Any, description: str, *problems: int) -> dict[int, Any]:
    """The answer on success, and the problems that can come: 401, 403 and 503 always can."""
    return {
        status: OpenApiResponse(schema, description=description),
        **{code: PROBLEMS[code] for code in sorted({401, 403, 503, *problems})},
    }


LIST: dict[str, Any] = {
    "operation_id": "installations_list",
    "summary": "List installations, newest first",
    "parameters": [
        OpenApiParameter("status", str, enum=["open", *Status.values], description="Only these."),
        OpenApiParameter("package", str, description="Only of this package."),
        OpenApiParameter("q", str, description="Part of a package's name or a source."),
        OpenApiParameter("after", str, description="The `next` of the page before."),
    ],
    "responses": answers(
        200,
        {
            "type": "object",
            "properties": {"installations": {"type": "array", "items": BRIEF}, "next": _MAYBE},
        },
        "At most 50.",
        422,
    ),
}
START: dict[str, Any] = {
    "operation_id": "installation_start",
    "summary": "Bring a package in, as far as its review",
    "description": (
        "From a source, or with the zip itself as the body (`Content-Type: application/zip`, at most 24 MiB)."
        " Needs the capability `toolhub:packages`, and a responsible person who may install."
    ),
    "parameters": [
        OpenApiParameter("team", str, description="With a zip as the body: as `team` of a JSON body.")
    ],
    "request": {"application/json": START_BODY, "application/zip": {"type": "string", "format": "binary"}},
    "examples": [
        OpenApiExample(
            "a repository",
            value={
                "source": {
                    "type": "git",
                    "location": "https://code.example.org/team/weather.git",
                    "ref": "v1.4.0",
                }
            },
            request_only=True,
            media_type="application/json",
        )
    ],
    "responses": answers(202, ANSWER, "Started; follow `Location`.", 400, 413, 422),
}
READ: dict[str, Any] = {
    "operation_id": "installation_get",
    "summary": "Read an installation",
    "responses": answers(200, ANSWER, "As it is now.", 404),
}
LOG: dict[str, Any] = {
    "operation_id": "installation_log",
    "summary": "Read an installation's log",
    "parameters": [OpenApiParameter("after", int, description="The number of the last line that you have.")],
    "responses": answers(
        200,
        {
            "type": "object",
            "properties": {
                "lines": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "seq": {"type": "integer"},
                            "at": _TEXT,
                            "step": _TEXT,
                            "text": _TEXT,
                        },
                    },
                }
            },
        },
        "At most 400 lines: those after `after`, else the latest.",
        404,
        422,
    ),
}
APPROVE: dict[str, Any] = {
    "operation_id": "installation_approve",
    "summary": "Publish what was reviewed",
    "request": {"application/json": APPROVAL},
    "responses": answers(202, ANSWER, "It goes on.", 400, 404, 409, 413, 422),
}
CANCEL: dict[str, Any] = {
    "operation_id": "installation_cancel",
    "summary": "Cancel an installation",
    "request": None,
    "responses": answers(202, ANSWER, "Cancelled, or about to be.", 404, 409),
}
RETRY: dict[str, Any] = {
    "operation_id": "installation_retry",
    "summary": "Try a failed installation's step again",
    "request": None,
    "responses": answers(202, ANSWER, "It goes on.", 404, 409),
}
