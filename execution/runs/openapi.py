"""What the API's description says of calls and runs: bodies, answers, examples, errors."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse

from core.openapi import ERROR, answers
from execution.features.callbacks.openapi import CALLBACK, CALLBACK_URL
from execution.run_events import RUN_EVENTS

_TIME = {"type": ["string", "null"], "format": "date-time"}
_ID = {"type": ["string", "null"], "format": "uuid"}


def _said(description: str, kind: str | list[str], **more: Any) -> dict[str, Any]:
    return {"type": kind, **more, "description": description}


METADATA: dict[str, Any] = {
    "title": "Metadata",
    "type": "object",
    "properties": {
        "run_id": _said("The run; GET runs/{id}.", "string", format="uuid"),
        "tool": _said("Its name.", "string"),
        "version": _said("The version that was called.", "string"),
        "status": _said("How the run stands; docs/run-states.md has all of them.", "string"),
        "created_at": {**_TIME, "description": "When the call was accepted."},
        "started_at": {**_TIME, "description": "When it was begun."},
        "completed_at": {**_TIME, "description": "When the run had its outcome."},
        "duration_ms": _said("What the attempt that gave the outcome took, in ms.", ["number", "null"]),
        "attempts": _said("How often it was begun.", "integer"),
        "arguments_hash": _said("SHA-256 over the canonical arguments.", "string"),
        "result_hash": _said("The same of the result.", ["string", "null"]),
        "degraded": _said("Whether a precondition that is not critical failed.", "boolean"),
        "sandbox": _said("The level that held the tool; none for the hub's own.", ["string", "null"]),
        "side_effect": _said(
            "How far the effect can have gone: none (nothing changed), possible (nobody knows), done.",
            ["string", "null"],
            enum=["none", "possible", "done", None],
        ),
        "resources": _said("What was used, such as cpuMs, each with its unit.", "object"),
        "artefacts": {
            "type": "array",
            "items": {"type": "object"},
            "description": "Files that the tool left: name, size, sha256; GET runs/{id}/artefacts.",
        },
        "audit_leaf": _said("The hash of the outcome's event in the ledger.", ["string", "null"]),
        "warnings": _said("What the caller should know of.", "array", items={"type": "string"}),
        "recovery": {
            "type": ["object", "null"],
            "description": (
                "What was done when the last attempt had failed with `error`: another tool was called "
                "(fallback: tool, run_id), or a person asked (manual: escalated_at)."
            ),
            "properties": {"type": {"type": "string", "enum": ["fallback", "manual"]}, "error": ERROR},
        },
        "origin": {**_ID, "description": "The run that this one repeats."},
        "parent_run_id": {**_ID, "description": "The run that this one follows from."},
        "callback": CALLBACK,
        "payload_expired_at": {**_TIME, "description": "When arguments and result were removed with age."},
    },
    "required": ["run_id", "tool", "version", "status", "attempts", "arguments_hash", "warnings"],
}
RESULT: dict[str, Any] = {
    "title": "Result",
    "type": "object",
    "properties": {
        "success": {"type": ["boolean", "null"], "description": "null until the run has its outcome"},
        "data": {"description": "What the tool returned; null with an error."},
        "error": {"anyOf": [ERROR, {"type": "null"}]},
        "metadata": METADATA,
    },
    "required": ["success", "data", "error", "metadata"],
}
ATTEMPT: dict[str, Any] = {
    "title": "Attempt",
    "type": "object",
    "properties": {
        "number": {"type": "integer"},
        "status": {"type": ["string", "null"]},
        "error": {"anyOf": [ERROR, {"type": "null"}]},
        "started_at": _TIME,
        "finished_at": _TIME,
        "duration_ms": {"type": ["number", "null"]},
        "delay_ms": {"type": ["integer", "null"], "description": "The wait before the next attempt."},
    },
}
_FLAG = {"type": "boolean"}
PRECONDITIONS: dict[str, Any] = {
    "type": ["object", "null"],
    "description": "What was checked before the first attempt; null for a tool without preconditions.",
    "properties": {
        "passed": _FLAG,
        "critical_failed": _FLAG,
        "can_proceed": _FLAG,
        "degraded_mode": _FLAG,
        "results": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "type": {"type": "string"},
                    "description": {"type": "string"},
                    "critical": _FLAG,
                    "passed": _FLAG,
                    "reason": {"type": ["string", "null"], "description": "Why it does not hold."},
                    "error": {"type": ["string", "null"], "description": "Why it could not be checked."},
                },
            },
        },
    },
}
VIOLATIONS: dict[str, Any] = {
    "type": "array",
    "description": "What looks like an attack in the arguments, where the tool's mode is to record it.",
    "items": {
        "type": "object",
        "properties": {
            "type": {
                "type": "string",
                "enum": ["injection", "path_traversal", "privilege_escalation", "data_exfiltration"],
            },
            "severity": {"type": "string", "enum": ["low", "medium", "high", "critical"]},
            "description": {"type": "string"},
            "remediation": {"type": "string"},
            "pointer": {"type": "string", "description": "JSON Pointer into the arguments."},
        },
        "required": ["type", "severity", "description", "remediation", "pointer"],
    },
}
RUN_RESULT: dict[str, Any] = {
    **RESULT,
    "title": "Run result",
    "properties": {
        **RESULT["properties"],
        "attempts": {"type": "array", "items": ATTEMPT},
        "preconditions": PRECONDITIONS,
        "children": {
            "type": "array",
            "description": "Runs that follow from it: cascades and compensations.",
            "items": {
                "type": "object",
                "properties": {
                    "run_id": {"type": "string", "format": "uuid"},
                    "tool": {"type": "string"},
                    "status": {"type": "string"},
                },
            },
        },
        "violations": VIOLATIONS,
    },
    "required": [*RESULT["required"], "attempts", "preconditions", "children", "violations"],
}
CALL: dict[str, Any] = {
    "title": "Call",
    "type": "object",
    "properties": {
        "arguments": _said("What the tool's input schema takes; null means {}.", ["object", "null"]),
        "version": {"type": "string", "description": "1, 1.4 or 1.4.0; the active version by default"},
        "context": {
            "type": "object",
            "description": "On whose behalf the call is; each is `default` where it is not named.",
            "properties": {
                "session_id": _said("The session, whose memory the tool gets.", "string"),
                "task_id": _said("The agent's task.", "string"),
                "loop_id": _said("The loop of the session, with a memory of its own.", "string"),
                "agent_id": _said("Which of the persona's agents calls.", "string"),
                "user_id": _said("For whom the agent works.", "string"),
                "project": {"description": "Any JSON, for the tool."},
            },
            "additionalProperties": False,
        },
        "context_data": _said("Any JSON object, for the tool.", "object"),
        "hints": _said("Any JSON object, for the tool: how the caller would like it done.", "object"),
        "limits": {
            "type": "object",
            "description": "Tighter limits than the tool's own.",
            "properties": {
                "timeoutMs": _said("The longest that an attempt may take, in ms.", "integer", minimum=1),
                "maxOutputBytes": _said("The most that the result may have, in bytes.", "integer", minimum=1),
                "deadlineMs": _said(
                    "The time, in ms, within which a worker has to begin the run. One that is not begun by "
                    "then ends as a timeout, without any effect.",
                    "integer",
                    minimum=1,
                ),
            },
            "additionalProperties": False,
        },
        "callback_url": CALLBACK_URL,
        "isolation_level": _said(
            "The least isolation that the call wants; it can only add to the tool's own.",
            "string",
            enum=["none", "basic", "strict", "paranoid"],
        ),
    },
    "additionalProperties": False,
}
_NAMES = "Its name:\n\n" + "\n".join(
    f"- `{kind.name}`{f' ({kind.number})' if kind.number else ''}: {kind.sentence.usage}"
    for kind in RUN_EVENTS.values()
)
EVENT_LIST: dict[str, Any] = {
    "type": "object",
    "properties": {
        "events": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "seq": _said("Its place among the events of the run, from 1.", "integer"),
                    "event": _said(_NAMES, "string", enum=list(RUN_EVENTS)),
                    "number": _said("The number that stands for the name, where it has one.", "integer"),
                    "at": _said("When it happened, in UTC.", "string", format="date-time"),
                    "data": _said("What the name promises of it.", "object"),
                },
            },
        }
    },
}
PREFER = OpenApiParameter(
    "Prefer",
    str,
    OpenApiParameter.HEADER,
    description="`wait=N` (seconds, at most 120) or `respond-async` (RFC 7240).",
)
KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="Repeating a call with the same key returns its run.",
)
_WAIT = OpenApiParameter("wait", int, description="Seconds to wait for the outcome, at most 120.")
_HELLO = OpenApiExample("echo", value={"arguments": {"text": "hello"}}, request_only=True)


_DONE: dict[str, Any] = {
    "run_id": "01890a5d-ac96-774b-bcce-b302099a8057",
    "tool": "echo",
    "version": "1.0.0",
    "status": "completed",
    "created_at": "2030-01-31T09:00:00.000Z",
    "started_at": "2030-01-31T09:00:00.001Z",
    "completed_at": "2030-01-31T09:00:00.002Z",
    "duration_ms": 0.4,
    "attempts": 1,
    "arguments_hash": "7c8fd98b1a1d5b8c6e4d9c0f0a6f1e1d2c3b4a59687786950413223140515263",
    "result_hash": "7c8fd98b1a1d5b8c6e4d9c0f0a6f1e1d2c3b4a59687786950413223140515263",
    "warnings": [],
}
_UNDONE = {**_DONE, "status": "pending", "attempts": 0, "result_hash": None, "duration_ms": None}
_UNDONE |= {"started_at": None, "completed_at": None}
_FAILURE = {
    "code": "TIMEOUT",
    "type": "timeout",
    "severity": "medium",
    "message": "The tool took longer than 500 ms.",
    "recoverable": True,
    "retryable": True,
    "suggestions": ["Ask for less, or allow more time."],
    "details": {},
}
_RESULTS: dict[str, dict[str, Any]] = {
    "success": {"success": True, "data": {"text": "hello"}, "error": None, "metadata": _DONE},
    "failure": {
        "success": False,
        "data": None,
        "error": _FAILURE,
        "metadata": {**_DONE, "status": "timeout", "result_hash": None, "duration_ms": 501.2},
    },
    "not finished": {"success": None, "data": None, "error": None, "metadata": _UNDONE},
}


def _results(*names: str, status: int, **more: Any) -> list[OpenApiExample]:
    return [
        OpenApiExample(name, value={**_RESULTS[name], **more}, response_only=True, status_codes=[str(status)])
        for name in names
    ]


RESULT_ANSWER = OpenApiResponse(
    RESULT,
    description="The run's result; a tool's failure is 200 with `success` false.",
    examples=_results("success", "failure", status=200),
)
_RUN_ANSWER = OpenApiResponse(
    RUN_RESULT,
    description="The run's result, its attempts and preconditions.",
    examples=_results(
        "success",
        "failure",
        "not finished",
        status=200,
        attempts=[],
        preconditions=None,
        children=[],
        violations=[],
    ),
)
ACCEPTED_ANSWER = OpenApiResponse(
    RESULT,
    description="Accepted, not finished; see Location.",
    examples=_results("not finished", status=202),
)
EXECUTE: dict[str, Any] = {
    "operation_id": "tool_execute",
    "auth": [{"personaToken": []}],
    "summary": "Call a tool",
    "request": {"application/json": CALL},
    "parameters": [PREFER, KEY],
    "examples": [_HELLO],
    "responses": answers(
        {200: RESULT_ANSWER, 202: ACCEPTED_ANSWER},
        400,
        401,
        403,
        404,
        409,
        413,
        422,
        429,
        503,
    ),
}
RUN: dict[str, Any] = {
    "operation_id": "run_get",
    "summary": "Read a run, or wait for its outcome",
    "parameters": [_WAIT],
    "responses": answers({200: _RUN_ANSWER}, 401, 404, 422, 503),
}
EVENTS: dict[str, Any] = {
    "operation_id": "run_events",
    "summary": "Read a run's events",
    "description": "With `Accept: text/event-stream` as server-sent events; go on with `Last-Event-ID`.",
    "parameters": [OpenApiParameter("after", int, description="Only events after this number."), _WAIT],
    "responses": answers({200: OpenApiResponse(EVENT_LIST, description="In order.")}, 401, 404, 422, 503),
}
CANCEL: dict[str, Any] = {
    "operation_id": "run_cancel",
    "summary": "Cancel a run",
    "request": None,
    "responses": answers(
        {
            200: OpenApiResponse(
                {"type": "object", "properties": {"cancelled": {"type": "boolean"}}},
                description="False when the run had its outcome already.",
            )
        },
        401,
        404,
        503,
    ),
}
