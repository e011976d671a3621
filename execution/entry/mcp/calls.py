"""MCP's `tools/call`: the same door as REST's execute, and what came of it in MCP's words."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from django.conf import settings

from core.errors import InvalidRequest, ToolHubError
from core.problems import as_toolhub_error
from execution.engine.calls.next_call import next_call_of_body
from execution.engine.requests import CallRequest, request_read
from execution.engine.results import envelope
from execution.engine.states import FINAL
from execution.engine.store.known import Proof
from execution.engine.submit import run_submit, run_submit_known
from execution.engine.waiting import run_await
from execution.entry.mcp.door import Door
from execution.entry.mcp.protocol import MIRROR_KEY, MODERN_VERSIONS
from execution.entry.mcp.reader import Request
from execution.entry.mcp.refused import Refused
from execution.models import Run, Status
from execution.runs.preferences import key_read, manner_read
from registry.collections.selectors import sight_of
from registry.models import ToolVersion
from registry.schemas import DefinitionSource
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


def tool_call(
    door: Door, version: str, params: Mapping[str, Any], *, found: ResolvedTool | None = None
) -> dict[str, Any]:
    """Carries a call out as REST does, waiting as long. A refusal is a result with `isError`, for the model.

    `found` is the active version of the tool where it was read together with the caller. `_meta`'s
    io.toolhub/call takes the members of REST's body beside `arguments`, and `idempotency_key`.
    Raises Refused; ToolHubError for a tool that the caller does not see, or a record that cannot be written.
    """
    if "\0" in params["name"]:  # the record cannot hold it, as NulMiddleware says of addresses
        raise tool_missing(params["name"].replace("\0", ""), door.principal.persona_id, door.collection)
    if version in MODERN_VERSIONS:
        found = found or _found(door, params["name"])
        _mirrors_check(door, params, found)
    return _told(version, functools.partial(_submitted, door, params, found))


def tool_call_known(door: Door, call: Request, found: ResolvedTool, proof: Proof) -> dict[str, Any] | None:
    """The same by what this process knew before; None where the call has to be made anew."""
    try:
        if call.version in MODERN_VERSIONS:
            _mirrors_check(door, call.params, found)
        request, key = _asked(door, call.params, found)
    except (ToolHubError, Refused):  # whose token it was is looked at first
        return None
    manner = manner_read("")
    run = run_submit_known(
        principal=door.principal, found=found, request=request, manner=manner, proof=proof, key=key
    )
    if run is None:
        return None
    return _result(call.version, run_await(run, run.persona_id, manner.wait_s))


def _told(version: str, submit: Callable[[], Run]) -> dict[str, Any]:
    """The result of a call, or its refusal as a result."""
    try:
        run = submit()
    except Exception as error:
        known = as_toolhub_error(error)
        if known is None or known.code in _PROTOCOL:
            raise
        told = known.as_error() | ({"errors": known.errors} if known.errors else {})
        if known.retry_after is not None:
            told["retry_after"] = known.retry_after
        return _failed(version, told, {ERROR: told})
    return _result(version, run)


def _found(door: Door, name: str) -> ResolvedTool | None:
    """The tool that a call names; None where the call itself will say that there is none."""
    try:
        return tool_resolve(name, door.principal.persona_id)
    except ToolHubError:
        return None


def _mirrors_check(door: Door, params: Mapping[str, Any], found: ResolvedTool | None) -> None:
    """Raises Refused where headers say other arguments than the body: a proxy may have gone by them.

    Of a tool that the caller does not see nothing is told.
    """
    if found is None or found.assigned_by is None or not _has_mirrors(found.version):
        return
    from mcp.shared.inbound import validate_mcp_param_headers  # noqa: PLC0415

    schema = found.version.definition["inputSchema"]
    wrong = validate_mcp_param_headers(schema, params.get("arguments") or {}, door.headers)
    if wrong is not None:
        raise Refused(wrong.code, wrong.message, wrong.data)


def _has_mirrors(version: ToolVersion) -> bool:
    return _schema_has_mirrors(DefinitionSource(version.digest, version.definition))


@functools.lru_cache(maxsize=4096)
def _schema_has_mirrors(source: DefinitionSource) -> bool:
    """Whether a schema has the word anywhere: the official check, and what it loads, is for few tools."""
    return f'"{MIRROR_KEY}"'.encode() in orjson.dumps(source.definition["inputSchema"])


def _submitted(door: Door, params: Mapping[str, Any], found: ResolvedTool | None) -> Run:
    name, persona_id = params["name"], door.principal.persona_id
    if door.collection and not _is_member(door, name):
        raise tool_missing(name.partition("@")[0], persona_id, door.collection)
    request, key = _asked(door, params, found)
    manner = manner_read(door.meta.get("HTTP_PREFER", ""))
    run = run_submit(
        principal=door.principal, name=name, found=found, request=request, manner=manner, key=key
    )
    return run if manner.detached else run_await(run, persona_id, manner.wait_s)


def _asked(
    door: Door, params: Mapping[str, Any], found: ResolvedTool | None
) -> tuple[CallRequest, str | None]:
    """What the call asks for, and its key. Raises InvalidRequest, ToolHubError."""
    more = (params.get("_meta") or {}).get(CALL, {})
    if not isinstance(more, dict) or "arguments" in more:
        raise InvalidRequest(f"_meta's {CALL} must be an object of what a call says beside its arguments.")
    key = more[KEY] if KEY in more else door.meta.get("HTTP_IDEMPOTENCY_KEY")
    if not isinstance(key, str | None):
        raise InvalidRequest(f"{KEY} must be a string.")
    beside = {name: value for name, value in more.items() if name != KEY}
    return _request(door, params, beside, found), key_read(key)


def _request(
    door: Door, params: Mapping[str, Any], more: Mapping[str, Any], found: ResolvedTool | None
) -> CallRequest:
    """The call request; members beside `arguments` that the tool knows as arguments are refused."""
    beside = {name: value for name, value in params.items() if name not in _PARAMS}
    try:
        if beside and not params.get("arguments") and _knows(door, params["name"], beside, found):
            request_read({**more, **beside})
        return request_read({**more, "arguments": params.get("arguments")})
    except ToolHubError as error:
        body = {**more, **beside, "arguments": params.get("arguments")}
        next_call_of_body(error, params["name"], door.principal.persona_id, found, body)
        raise


def _knows(door: Door, name: str, beside: Mapping[str, Any], found: ResolvedTool | None) -> bool:
    found = found or _found(door, name)
    if found is None:
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


def _result(version: str, run: Run) -> dict[str, Any]:
    told = envelope(run)
    meta = {RUN: told["metadata"]}
    if run.status == Status.COMPLETED:
        text = run.result if isinstance(run.result, str) else orjson.dumps(told["data"]).decode()
        return _shaped(version, text, meta, structured=_structured(run, told["data"]))
    if run.status in FINAL:
        return _failed(version, told["error"], meta | {ERROR: told["error"]})
    open_ = {
        "status": run.status,
        "message": _WAITING.get(Status(run.status), _OPEN),
        "run_id": str(run.pk),
        "result": f"GET {settings.PUBLIC_URL.rstrip('/')}/api/v1/runs/{run.pk}",
    }
    return _failed(version, open_, meta)


def _structured(run: Run, data: orjson.Fragment) -> Any:
    """An object as it is; what is none under `result`, where the tool's list says so (providers/mcp.py)."""
    output = run.tool_version.definition.get("outputSchema")
    if output is not None and output.get("type") != "object":
        return {"result": data}
    return data if isinstance(run.result, dict) else None


def _failed(version: str, told: Mapping[str, Any], meta: Mapping[str, Any]) -> dict[str, Any]:
    """What the model reads is the whole error: codes, reasons and remedies are for it."""
    return _shaped(version, orjson.dumps(told).decode(), meta, failed=True)


def _shaped(
    version: str, text: str, meta: Mapping[str, Any], *, failed: bool = False, structured: Any = None
) -> dict[str, Any]:
    """The result as the official types write it for a revision."""
    return {
        "_meta": meta,
        "content": [{"text": text, "type": "text"}],
        **({"isError": True} if failed else {}),
        **({"resultType": "complete"} if version in MODERN_VERSIONS else {}),
        **({} if structured is None else {"structuredContent": structured}),
    }
