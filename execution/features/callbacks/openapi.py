"""What the API's description says of callbacks."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse

_TIME = {"type": ["string", "null"], "format": "date-time"}
CALLBACK_URL: dict[str, Any] = {
    "type": "string",
    "format": "uri",
    "maxLength": 2000,
    "description": "Gets the result in one signed POST, repeated until it is taken. See docs/callbacks.md.",
}
CALLBACK: dict[str, Any] = {
    "type": ["object", "null"],
    "description": "Where the callback stands; null for a run without one.",
    "properties": {
        "state": {"type": "string", "enum": ["waiting", "queued", "delivered", "failed"]},
        "id": {"type": ["string", "null"], "format": "uuid", "description": "The `webhook-id` of each try."},
        "to": {"type": "string", "description": "The address without path and query."},
        "attempts": {"type": "integer"},
        "delivered_at": _TIME,
        "next_at": _TIME,
        "error": {"type": ["string", "null"], "description": "Why the last try failed."},
    },
    "required": ["state", "id", "to", "attempts", "delivered_at", "next_at", "error"],
}
REDELIVERED = OpenApiResponse(
    {"type": "object", "properties": {"callback": CALLBACK}, "required": ["callback"]},
    description="The callback is queued anew, under its old id.",
)
