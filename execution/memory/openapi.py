"""What the API's description says of memory and sessions."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from core.openapi import PROBLEMS
from execution.memory.models import Scope

SESSION_ID = OpenApiParameter("session_id", str, description="The session; `default` when absent.")
LOOP_ID = OpenApiParameter("loop_id", str, description="The loop, for working memory; `default` when absent.")
PLACE = [SESSION_ID, LOOP_ID]
_TIME = {"type": "string", "format": "date-time"}
_SCOPE = {"type": "string", "enum": Scope.values}
_KEY: dict[str, Any] = {
    "type": "object",
    "properties": {
        "scope": _SCOPE,
        "key": {"type": "string"},
        "bytes": {"type": "integer"},
        "updated_at": _TIME,
    },
}
ITEM = {**_KEY, "properties": {**_KEY["properties"], "value": {}}}
PUT: dict[str, Any] = {
    "type": "object",
    "properties": {"value": {"description": "Any JSON value."}},
    "required": ["value"],
    "additionalProperties": False,
}
KEYS = {"type": "object", "properties": {"keys": {"type": "array", "items": _KEY}}}
SESSION: dict[str, Any] = {
    "type": "object",
    "properties": {
        "session_id": {"type": "string"},
        "created_at": _TIME,
        "last_at": {**_TIME, "description": "When something was last written in it."},
        "over": {"type": "boolean", "description": "Whether its memory is gone."},
        "memory": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "scope": _SCOPE,
                    "loop_id": {"type": ["string", "null"]},
                    "keys": {"type": "integer"},
                    "bytes": {"type": "integer"},
                },
            },
        },
    },
}
_NAMED = ("session_id", "created_at", "last_at")
SESSIONS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "sessions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {name: SESSION["properties"][name] for name in _NAMED},
            },
        },
        "next": {"type": ["string", "null"], "description": "Give it as `after` for the next page."},
    },
}
EVENT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "seq": {"type": "integer"},
        "event": {"type": "string"},
        "payload": {},
        "tool": {"type": "string"},
        "run_id": {"type": "string", "format": "uuid"},
        "at": _TIME,
    },
}
EVENTS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "events": {"type": "array", "items": EVENT},
        "next": {"type": ["integer", "null"], "description": "Give it as `after` for the next page."},
    },
}
AFTER_SEQ = OpenApiParameter("after", int, description="Only events after this number.")
WEBHOOK_NEW: dict[str, Any] = {
    "type": "object",
    "properties": {
        "url": {"type": "string", "minLength": 1, "maxLength": 2000},
        "events": {
            "type": "array",
            "description": "Names of events, each exactly or by its beginning and *.",
            "items": {"type": "string", "minLength": 1, "maxLength": 120},
            "minItems": 1,
            "maxItems": 50,
            "uniqueItems": True,
        },
    },
    "required": ["url", "events"],
    "additionalProperties": False,
}
WEBHOOK: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "url": {"type": "string"},
        "events": {"type": "array", "items": {"type": "string"}},
        "created_at": _TIME,
    },
}
WEBHOOKS = {"type": "object", "properties": {"webhooks": {"type": "array", "items": WEBHOOK}}}
AFTER = OpenApiParameter("after", str, description="The `next` of the page before.")


def said(schema: dict[str, Any] | None, words: str, *problems: int, status: int = 200) -> dict[int, Any]:
    """The answers of an operation."""
    return {status: OpenApiResponse(schema, description=words)} | {one: PROBLEMS[one] for one in problems}


ITEM_READ: dict[str, Any] = {
    "operation_id": "memory_read",
    "summary": "Read a value from memory",
    "parameters": PLACE,
    "responses": said(ITEM, "The value.", 401, 404, 422),
}
ITEM_WRITE: dict[str, Any] = {
    "operation_id": "memory_write",
    "summary": "Write a value into memory",
    "parameters": PLACE,
    "request": {"application/json": PUT},
    "responses": said(ITEM, "As it stands now.", 401, 422, 503),
}
ITEM_DELETE: dict[str, Any] = {
    "operation_id": "memory_delete",
    "summary": "Delete a value from memory",
    "parameters": PLACE,
    "responses": said(None, "It is not there any more.", 401, 422, 503, status=204),
}
