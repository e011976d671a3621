"""One message of an MCP client, checked by the official types, and the answer to it (JSON-RPC 2.0)."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from mcp.shared.inbound import (
    MCP_PROTOCOL_VERSION_HEADER,
    InboundLadderRejection,
    classify_inbound_request,
)
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    PROTOCOL_VERSION_META_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
    JSONRPCNotification,
    JSONRPCRequest,
)
from mcp_types.methods import CLIENT_REQUESTS, validate_client_request
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from core.errors import ToolHubError
from execution.entry.mcp.answers import refused_answer, refused_by, result_answer
from execution.entry.mcp.calls import params_unfit, tool_call
from execution.entry.mcp.door import Door
from execution.entry.mcp.methods import METHODS
from execution.entry.mcp.protocol import UNNAMED_VERSION
from execution.entry.mcp.refused import Refused

_SAID = 300


def message_answer(door: Door, message: Any) -> HttpResponse:
    """The response to a posted message: 202 for a notification, else a result or an error under its id.

    `message` is the body's value, or the ToolHubError that says why it has none.
    """
    number = None
    try:
        message = _object(message)
        if "id" not in message:
            return _notified(message)
        number = _request_id(message)
        version = _version(message, door.headers)
        return result_answer(number, _result(door, version, message))
    except Refused as refused:
        return refused_answer(number, refused)


def _object(message: Any) -> dict[str, Any]:
    if isinstance(message, ToolHubError):
        raise Refused(PARSE_ERROR, message.message, message.as_error()) from message
    if not isinstance(message, dict):
        raise Refused(INVALID_REQUEST, "The body must be one request or notification, no batch.")
    return message


def _notified(message: Mapping[str, Any]) -> HttpResponse:
    """Nothing here has to hear of one: a call ends by its own bounds, whatever its caller does meanwhile."""
    try:
        JSONRPCNotification.model_validate(message)
    except ValidationError as error:
        raise Refused(INVALID_REQUEST, f"This is no message of JSON-RPC 2.0: {_words(error)}") from error
    return HttpResponse(status=202)


def _request_id(message: Mapping[str, Any]) -> Any:
    try:
        return JSONRPCRequest.model_validate(message).id
    except ValidationError as error:
        raise Refused(INVALID_REQUEST, f"This is no request of JSON-RPC 2.0: {_words(error)}") from error


def _version(message: Mapping[str, Any], headers: Mapping[str, str]) -> str:
    """The protocol's revision that a request is in. Raises Refused for one that is not spoken here."""
    named = headers.get(MCP_PROTOCOL_VERSION_HEADER)
    params = message.get("params") or {}
    meta = params.get("_meta")
    if named in MODERN_PROTOCOL_VERSIONS or (isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta):
        low = {name.lower(): value for name, value in headers.items()}
        verdict = classify_inbound_request(message, headers=low)
        if isinstance(verdict, InboundLadderRejection):
            raise Refused(verdict.code, verdict.message, verdict.data)
        return verdict.protocol_version
    if message["method"] == "initialize":
        asked = params.get("protocolVersion")
        # One that is not known is answered with the newest that is; the client goes away or takes it.
        return asked if asked in HANDSHAKE_PROTOCOL_VERSIONS else HANDSHAKE_PROTOCOL_VERSIONS[-1]
    if named is None:
        return UNNAMED_VERSION
    if named not in HANDSHAKE_PROTOCOL_VERSIONS:
        known = [*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS]
        words = f"This hub does not speak {named[:40]!r}, but {', '.join(known)}."
        raise Refused(UNSUPPORTED_PROTOCOL_VERSION, words, {"supported": known, "requested": named[:40]})
    return named


def _result(door: Door, version: str, message: Mapping[str, Any]) -> dict[str, Any]:
    name, params = message["method"], message.get("params")
    method = METHODS.get(name)
    if method is None or (name, version) not in CLIENT_REQUESTS:
        raise Refused(METHOD_NOT_FOUND, f"This hub has no method {name[:64]!r} in {version}.")
    try:
        validate_client_request(name, version, params)
    except ValidationError as error:
        unfit = params_unfit(door, params) if method is tool_call and isinstance(params, dict) else None
        if unfit is not None:
            data = unfit.as_error() | {"errors": unfit.errors}
            raise Refused(INVALID_PARAMS, unfit.message, data) from error
        raise Refused(INVALID_PARAMS, f"params does not fit: {_words(error)}") from error
    try:
        return method(door, version, params or {})
    except Exception as error:
        raise refused_by(name, error) from error


def _words(error: ValidationError) -> str:
    """The first things that did not fit, each with its place."""
    found = [
        f"{'.'.join(map(str, each['loc'])) or 'the whole'}: {each['msg']}"
        for each in error.errors(include_input=False, include_url=False)[:3]
    ]
    return "; ".join(found)[:_SAID]
