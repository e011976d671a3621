"""The parts of the API's description that every app uses."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from core.codes import CODES, Code

ERROR: dict[str, Any] = {
    "title": "Error",
    "type": "object",
    "properties": {
        "code": {"type": "string"},
        "type": {"type": "string"},
        "severity": {"type": "string"},
        "message": {"type": "string"},
        "recoverable": {"type": "boolean"},
        "retryable": {"type": "boolean"},
        "suggestions": {"type": "array", "items": {"type": "string"}},
        "details": {"type": "object"},
    },
    "required": ["code", "type", "severity", "message", "recoverable", "retryable", "suggestions", "details"],
}
PROBLEM: dict[str, Any] = {
    "title": "Problem",
    "type": "object",
    "description": "Problem details (RFC 9457)",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "error": ERROR,
        "errors": {"type": "array", "items": {"type": "object"}},
        "decision": {"type": "object"},
    },
    "required": ["type", "title", "status", "detail", "error"],
}


def problem_examples(status: int) -> dict[str, Any]:
    """Of each code with this status an example, as OpenAPI has them."""
    return {code.name: {"value": _problem_body(code)} for code in CODES.values() if code.status == status}


def _problem_body(code: Code) -> dict[str, Any]:
    return {
        "type": f"/api/docs/errors#{code.name}",
        "title": code.meaning,
        "status": code.status,
        "detail": code.meaning,
        "error": {
            "code": code.name,
            "type": code.type,
            "severity": code.severity,
            "message": code.meaning,
            "recoverable": code.recoverable,
            "retryable": "Retry-After" in code.remedy,
            "suggestions": [code.remedy],
            "details": {},
        },
    }


# An operation names the statuses of its problems; core/openapi_finish.py puts what they say in one place.
PROBLEMS = {
    status: OpenApiResponse(PROBLEM, description=", ".join(problem_examples(status)))
    for status in sorted({code.status for code in CODES.values()})
    if status >= 400
}


def answers(success: dict[int, Any], *problems: int) -> dict[int, Any]:
    """The answers of an operation: those of its success, and the problems that can come."""
    return success | {status: PROBLEMS[status] for status in problems}


_IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="The ETag that you read. With another one now the request is refused (409). What loosens a "
    "safeguard needs it (428 without it).",
)
_ETAG = OpenApiParameter(
    "ETag",
    str,
    OpenApiParameter.HEADER,
    description="The version of what can be edited here, for If-Match.",
    response=[200],
)


def tagged_read(described: Mapping[str, Any]) -> dict[str, Any]:
    """The description of an operation whose answer has an ETag."""
    return {**described, "parameters": [*described.get("parameters", ()), _ETAG]}


def versioned(described: Mapping[str, Any]) -> dict[str, Any]:
    """The description of an operation that edits what has a version: If-Match, and its refusals."""
    parameters = [*described.get("parameters", ()), _IF_MATCH]
    if 200 in described["responses"]:
        parameters.append(_ETAG)
    responses = {**described["responses"], 409: PROBLEMS[409], 428: PROBLEMS[428]}
    return {**described, "parameters": parameters, "responses": responses}
