"""MCP's `tools/call`: the same door as REST's execute, and what came of it in MCP's words."""

from collections.abc import Mapping
from typing import Any

import orjson
from django.conf import settings
from mcp.shared.inbound import validate_mcp_param_headers
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from core.errors import InvalidRequest, ToolHubError
from core.json.canonical import canonical
from core.problems import as_toolhub_error
from execution.engine.calls.next_call import next_call_of_body
from execution.engine.calls.requests import CallRequest, request_read
from execution.engine.results import envelope
from execution.engine.states import FINAL
from execution.engine.submit import run_submit
from execution.engine.waiting import run_await
from execution.entry.mcp.door import Door
from execution.entry.mcp.refused import Refused
from execution.models import Run, Status
from execution.runs.preferences import key_read, manner_read
from registry.collections.selectors import sight_of
from registry.selectors import ResolvedTool, tool_missing, tool_resolve, tools_assigned
from toolhub_sdk.checks.schema_parts import members_of

# Members of `_meta`: what a call says beside its arguments, as in REST's body, and what came of it.
CALL, RUN, ERROR = "io.toolhub/call", "io.toolhub/run", "io.toolhub/error"
KEY = "idempotency_key"
# What the protocol has in the params of tools/call.
_PARAMS = frozenset({"name", "arguments", "_meta", "task", "inputResponses", "requestState"})


# What is an answer of JSON-RPC, not a result: it is the client's to mend, or nobody's.
_PROTOCOL = frozenset({"TOOL_NOT_FOUND", "RECORD_UNAVAILABLE", "UNAUTHENTICATED"})
_WAITING = {
    Status.AWAITING_APPROVAL: "The call waits until a person approves it. It is carried out then.",
    Status.OUTCOME_UNKNOWN: "It is not known whether the call had its effect. A person will say.",
}
_OPEN = "The call has not ended yet. It goes on."


def tool_call(door: Door, version: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Carries a call out as REST does, waiting as long. A refusal is a result with `isError`, for the model.

    `_meta`'s io.toolhub/call takes the members of REST's body beside `arguments`, and `idempotency_key`.
    Raises Refused; ToolHubError for a tool that the caller does not see, or a record that cannot be written.
    """
    if "\0" in params["name"]:  # the record cannot hold it, as NulMiddleware says of addresses
        raise tool_missing(params["name"].replace("\0", ""), door.principal.persona_id, door.collection)
    found = _mirrored(door, params) if version in MODERN_PROTOCOL_VERSIONS else None
    try:
        run = _submitted(door, params, found)
    except Exception as error:
        known = as_toolhub_error(error)
        if known is None or known.code in _PROTOCOL:
            raise
        told = known.as_error() | ({"errors": known.errors} if known.errors else {})
        if known.retry_after is not None:
            told["retry_after"] = known.retry_after
        return _failed(told, {ERROR: told})
    return _result(run)


def _mirrored(door: Door, params: Mapping[str, Any]) -> ResolvedTool | None:
    """The tool, for the call; None where the call itself will say that there is none.

    Raises Refused where headers say other arguments than the body: a proxy may have gone by them. Of a tool
    that the caller does not see nothing is told.
    """
    try:
        found = tool_resolve(params["name"], door.principal.persona_id)
    except ToolHubError:
        return None
    schema = found.version.definition["inputSchema"] if found.assigned_by is not None else {}
    wrong = validate_mcp_param_headers(schema, params.get("arguments") or {}, door.headers)
    if wrong is not None:
        raise Refused(wrong.code, wrong.message, wrong.data)
    return found


def _submitted(door: Door, params: Mapping[str, Any], found: ResolvedTool | None) -> Run:
    name = params["name"]
    if door.collection and not _is_member(door, name):
        raise tool_missing(name.partition("@")[0], door.principal.persona_id, door.collection)
    more = (params.get("_meta") or {}).get(CALL, {})
    if not isinstance(more, dict) or "arguments" in more:
        raise InvalidRequest(f"_meta's {CALL} must be an object of what a call says beside its arguments.")
    key = more.pop(KEY, None) if KEY in more else door.headers.get("Idempotency-Key")
    if not isinstance(key, str | None):
        raise InvalidRequest(f"{KEY} must be a string.")
    manner = manner_read(door.headers.get("Prefer", ""))
    run = run_submit(
        principal=door.principal,
        name=name,
        found=found,
        request=_request(door, params, more),
        manner=manner,
        key=key_read(key),
    )
    return run if manner.detached else run_await(run, door.principal.persona_id, manner.wait_s)


def _request(door: Door, params: Mapping[str, Any], more: Mapping[str, Any]) -> CallRequest:
    """The call request; members beside `arguments` that the tool knows as arguments are refused."""
    beside = {name: value for name, value in params.items() if name not in _PARAMS}
    try:
        if beside and not params.get("arguments") and _knows(door, params["name"], beside):
            request_read({**more, **beside})
        return request_read({**more, "arguments": params.get("arguments")})
    except ToolHubError as error:
        body = {**more, **beside, "arguments": params.get("arguments")}
        next_call_of_body(error, params["name"], door.principal.persona_id, None, body)
        raise


def _knows(door: Door, name: str, beside: Mapping[str, Any]) -> bool:
    try:
        found = tool_resolve(name, door.principal.persona_id)
    except ToolHubError:
        return False
    schema = found.version.definition["inputSchema"]
    members = members_of(schema, schema)
    return found.assigned_by is not None and any(each in members for each in beside)


def params_unfit(door: Door, params: Mapping[str, Any]) -> ToolHubError | None:
    """The error for a call whose `arguments` are no object, in the words of REST; None where they are one."""
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(name, str) or isinstance(arguments, dict | None):
        return None
    try:
        request_read({"arguments": arguments})
    except ToolHubError as error:
        next_call_of_body(error, name, door.principal.persona_id, None, {"arguments": arguments})
        return error
    return None


def _is_member(door: Door, name: str) -> bool:
    seen = sight_of(door.principal.persona_id).collections.filter(name=door.collection)
    mine = tools_assigned(door.principal.persona_id).filter(name=name.partition("@")[0])
    return mine.filter(memberships__collection__in=seen).exists()


def _result(run: Run) -> dict[str, Any]:
    told = envelope(run)
    meta = {RUN: told["metadata"]}
    if run.status == Status.COMPLETED:
        text = run.result if isinstance(run.result, str) else canonical(run.result).decode()
        return {"content": [_text(text)], "resultType": "complete", "_meta": meta, **_structured(run)}
    if run.status in FINAL:
        return _failed(told["error"], meta | {ERROR: told["error"]})
    open_ = {
        "status": run.status,
        "message": _WAITING.get(Status(run.status), _OPEN),
        "run_id": str(run.pk),
        "result": f"GET {settings.PUBLIC_URL.rstrip('/')}/api/v1/runs/{run.pk}",
    }
    return _failed(open_, meta)


def _structured(run: Run) -> dict[str, Any]:
    """An object as it is; what is none under `result`, where the tool's list says so (providers/mcp.py)."""
    output = run.tool_version.definition.get("outputSchema")
    if output is not None and output.get("type") != "object":
        return {"structuredContent": {"result": run.result}}
    return {"structuredContent": run.result} if isinstance(run.result, dict) else {}


def _failed(told: Mapping[str, Any], meta: Mapping[str, Any]) -> dict[str, Any]:
    """What the model reads is the whole error: codes, reasons and remedies are for it."""
    text = orjson.dumps(told).decode()
    return {"content": [_text(text)], "isError": True, "resultType": "complete", "_meta": dict(meta)}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
