"""What the API's description says of the settings of packages."""

from typing import Any

from registry.installations.openapi import answers
from security.secret_tests import RESULTS

_SECRET: dict[str, Any] = {
    "type": "object",
    "properties": {
        "set_at": {"type": "string", "format": "date-time"},
        "set_by": {"type": "string"},
    },
}
CONFIG: dict[str, Any] = {
    "type": "object",
    "properties": {
        "package": {"type": "string"},
        "schema": {"type": "object", "description": "As the manifest of the release in use has it."},
        "values": {"type": "object", "description": "What tools get, defaults too; no secrets."},
        "secrets": {
            "type": "object",
            "description": "Those that are set, without their values.",
            "additionalProperties": _SECRET,
        },
        "missing": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Calls are refused with NOT_CONFIGURED until these are set.",
        },
    },
}
_SECRET_REPORT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "state": {"type": "string", "enum": ["ok", "suspect", "invalid", "missing"]},
        "notes": {"type": "array", "items": {"type": "string"}, "description": "What its form says."},
    },
    "required": ["name", "state", "notes"],
}
REPORT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "package": {"type": "string"},
        "result": {
            "type": "string",
            "enum": list(RESULTS),
            "description": " ".join(f"{name}: {meaning}" for name, meaning in RESULTS.items()),
        },
        "message": {"type": "string", "description": "The result and its reason in sentences."},
        "secrets": {"type": "array", "items": _SECRET_REPORT},
        "host": {"type": ["string", "null"], "description": "The server that was asked, as host:port."},
        "status": {"type": ["integer", "null"], "description": "The HTTP status of its answer."},
    },
    "required": ["package", "result", "message", "secrets", "host", "status"],
}
TEST: dict[str, Any] = {
    "operation_id": "package_config_test",
    "summary": "Test a package's secrets",
    "description": "Judges the form of each secret. If the manifest has `configCheck`, the hub sends that "
    "request, and once more without the secrets if the server accepts them; it waits at most 10 s. No value "
    "is ever shown.",
    "request": None,
    "responses": answers(200, REPORT, "What the test found.", 404, 409, 422, 429),
}
READ: dict[str, Any] = {
    "operation_id": "package_config",
    "summary": "Read a package's settings",
    "responses": answers(200, CONFIG, "The settings.", 404),
}
CHANGE: dict[str, Any] = {
    "operation_id": "package_config_change",
    "summary": "Change a package's settings",
    "description": "Sets what the body names and leaves the rest; null takes a setting back.",
    "request": {"application/json": {"type": "object"}},
    "responses": answers(200, CONFIG, "As they are now.", 400, 404, 409, 413, 422),
}
