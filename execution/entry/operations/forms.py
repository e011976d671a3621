"""The forms of S4's requests as JSON Schemas. Requests are held to them; the API's description shows them."""

from typing import Any

from core.json.pointer import POINTER
from execution.runs.openapi import CALL
from registry.filters import FILTER
from registry.schemas import validator_build

OPERATIONS = ("execute_single", "execute_chain", "orchestrate", "discover", "validate")
CALLS_MAX = 50
# S4's names and ours.
CALL_NAMES = {
    "arguments": "arguments",
    "version": "version",
    "contextData": "context_data",
    "executionHints": "hints",
}
CONTEXT_NAMES = {
    "sessionId": "session_id",
    "taskId": "task_id",
    "loopId": "loop_id",
    "agentId": "agent_id",
    "userId": "user_id",
    "projectContext": "project",
}
LIMIT_NAMES = ("timeoutMs", "maxOutputBytes", "deadlineMs")


def _object(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        **more,
    }


_ours = CALL["properties"]
_ID = {"type": "string", "minLength": 1, "maxLength": 64}
_TOOL = {"type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[^\\x00]+$"}
_PARAMETERS = {"toolName": _TOOL, **{name: _ours[inner] for name, inner in CALL_NAMES.items()}}
_SOURCE = _object({"from": _ID, "pointer": {"type": "string", "pattern": POINTER}}, "from", "pointer")
_CALL = {
    **_PARAMETERS,
    "id": {**_ID, "description": "The call's index by default"},
    "dependsOn": {"type": "array", "maxItems": CALLS_MAX, "items": _ID},
    "mapping": {
        "type": "object",
        "additionalProperties": _SOURCE,
        "description": "Arguments that are outputs of earlier calls, by JSON Pointer (RFC 6901)",
    },
}
_COMMON = {
    "context": _object({name: _ours["context"]["properties"][i] for name, i in CONTEXT_NAMES.items()}),
    "options": _object(
        {
            **{name: _ours["limits"]["properties"][name] for name in LIMIT_NAMES},
            "isolationLevel": _ours["isolation_level"],
        }
    ),
}
_CHAIN = {
    "calls": {"type": "array", "minItems": 1, "maxItems": CALLS_MAX, "items": _object(_CALL, "toolName")},
    "order": {"type": "string", "enum": ["given", "auto"], "default": "given"},
    "stopOnError": {"type": "boolean", "default": True},
}
_SINGLE = {"parameters": _object(_PARAMETERS, "toolName")}


def _form(operation: str, properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    named = {"operation": {"type": "string", "enum": [operation]}, **properties}
    return _object(named, "operation", *required, **more)


FORMS: dict[str, dict[str, Any]] = {
    "execute_single": _form("execute_single", {**_SINGLE, **_COMMON}, "parameters"),
    "execute_chain": _form("execute_chain", {**_CHAIN, **_COMMON}, "calls"),
    "discover": _form("discover", {"filter": FILTER, "after": {"type": "string"}}),
    "validate": _form(
        "validate",
        {**_SINGLE, **_CHAIN, **_COMMON},
        oneOf=[{"required": ["parameters"]}, {"required": ["calls"]}],
    ),
    "orchestrate": {
        "type": "object",
        "properties": {"operation": {"type": "string", "enum": ["orchestrate"]}},
        "required": ["operation"],
    },
}
VALIDATORS = {operation: validator_build(form) for operation, form in FORMS.items()}
