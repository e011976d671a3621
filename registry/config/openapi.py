"""What the API's description says of the settings of packages."""

from typing import Any

from registry.installations.openapi import answers

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
