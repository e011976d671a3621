"""The parts of the API's description that every app uses."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiResponse

from core.codes import CODES

ERROR: dict[str, Any] = {
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


def _problem(status: int) -> OpenApiResponse:
    codes = [code for code in CODES.values() if code.status == status]
    examples = [
        OpenApiExample(
            code.name,
            value={
                "type": f"/api/docs/errors#{code.name}",
                "title": code.meaning,
                "status": status,
                "detail": code.meaning,
                "error": {
                    "code": code.name,
                    "type": code.type,
                    "severity": code.severity,
                    "message": code.meaning,
                    "recoverable": code.recoverable,
                    "retryable": False,
                    "suggestions": [code.remedy],
                    "details": {},
                },
            },
            media_type="application/problem+json",
            response_only=True,
            status_codes=[str(status)],
        )
        for code in codes
    ]
    return OpenApiResponse(PROBLEM, description=", ".join(code.name for code in codes), examples=examples)


PROBLEMS = {
    status: _problem(status) for status in sorted({code.status for code in CODES.values()}) if status >= 400
}
