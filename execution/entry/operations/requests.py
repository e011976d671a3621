"""Reads S4's request form into calls of the hub's own form."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import InvalidRequest, ToolHubError
from execution.engine.requests import CallRequest, request_read
from execution.entry.operations.forms import CALL_NAMES, CONTEXT_NAMES, LIMIT_NAMES, OPERATIONS, VALIDATORS
from registry.bodies import body_check
from toolhub_sdk.checks.mismatch import given_words, listed
from toolhub_sdk.checks.near import did_you_mean

_OUTER = {
    **{f"/{inner}": ("call", name) for name, inner in CALL_NAMES.items()},
    "/mapping": ("call", "mapping"),
    "/limits": ("", "options"),
    "/isolation_level": ("", "options/isolationLevel"),
}
_CONTEXT = {inner: name for name, inner in CONTEXT_NAMES.items()}


@dataclass(frozen=True)
class Source:
    """Where an argument comes from: a JSON Pointer into the output of another call."""

    id: str
    pointer: str


@dataclass(frozen=True)
class ToolCall:
    """One call of a request. `place` is the JSON Pointer at which it stands there."""

    place: str
    index: int
    id: str
    name: str
    request: CallRequest
    depends_on: tuple[str, ...] = ()
    mapping: Mapping[str, Source] = field(default_factory=dict)

    @property
    def needs(self) -> tuple[str, ...]:
        """The ids of the calls that have to succeed before this one, each once."""
        return tuple(dict.fromkeys((*self.depends_on, *(source.id for source in self.mapping.values()))))


def operation_read(body: Any) -> str:
    """The operation of a request whose members fit it. Raises ToolHubError (422) with pointers."""
    if not isinstance(body, dict):
        raise InvalidRequest("The body must be an object with `operation`.")
    operation = body.get("operation")
    if not isinstance(operation, str) or operation not in VALIDATORS:
        near = did_you_mean(operation, OPERATIONS) if isinstance(operation, str) else ""
        expected = listed(OPERATIONS, len(OPERATIONS))
        message = f"operation: expected one of {expected}; got {given_words(operation)}.{near}"
        raise InvalidRequest(message, errors=[{"pointer": "/operation", "message": message}])
    if operation == "validate" and ("parameters" in body) == ("calls" in body):
        message = "validate takes either parameters (one call) or calls (a chain)."
        raise InvalidRequest(message, errors=[{"pointer": "", "message": message}])
    body_check(VALIDATORS[operation], body)
    return operation


def call_read(body: Mapping[str, Any]) -> ToolCall:
    """The one call of `parameters`. Raises ToolHubError (422) with pointers."""
    given = body["parameters"]
    return ToolCall("/parameters", 0, "0", given["toolName"], _request(given, body, "/parameters"))


def calls_read(body: Mapping[str, Any]) -> list[ToolCall]:
    """The calls of `calls`, as given. Raises ToolHubError (422) with pointers."""
    return [_chained(index, given, body) for index, given in enumerate(body["calls"])]


def _chained(index: int, given: Mapping[str, Any], body: Mapping[str, Any]) -> ToolCall:
    place = f"/calls/{index}"
    return ToolCall(
        place,
        index,
        given.get("id", str(index)),
        given["toolName"],
        _request(given, body, place),
        tuple(given.get("dependsOn", ())),
        {name: Source(one["from"], one["pointer"]) for name, one in given.get("mapping", {}).items()},
    )


def _request(given: Mapping[str, Any], body: Mapping[str, Any], place: str) -> CallRequest:
    ours = {inner: given[name] for name, inner in CALL_NAMES.items() if name in given}
    context, options = body.get("context", {}), body.get("options", {})
    if context:
        ours["context"] = {CONTEXT_NAMES[name]: value for name, value in context.items()}
    ours["limits"] = {name: options[name] for name in LIMIT_NAMES if name in options}
    if "isolationLevel" in options:
        ours["isolation_level"] = options["isolationLevel"]
    try:
        return request_read(ours)
    except ToolHubError as error:
        raise placed(error, place) from error


def placed(error: ToolHubError, place: str) -> ToolHubError:
    """The error with its pointers as the whole request has them, for a call that stands at `place`."""
    errors = [{**one, "pointer": _outer(one["pointer"], place)} for one in error.errors]
    return ToolHubError(
        error.message,
        code=error.code,
        recoverable=error.recoverable,
        suggestions=error.suggestions,
        data=error.data,
        errors=errors,
        retry_after=error.retry_after,
        retryable=error.retryable,
    )


def _outer(pointer: str, place: str) -> str:
    _, first, *rest = (*pointer.split("/", 2), "")[:3]
    tail = f"/{rest[0]}" if rest[0] else ""
    if first == "context":
        member, *deeper = rest[0].split("/", 1)
        return "/".join(["/context", _CONTEXT.get(member, member), *deeper])
    where, name = _OUTER.get(f"/{first}", ("call", first))
    return f"{place if where == 'call' else ''}/{name}{tail}" if first else place
