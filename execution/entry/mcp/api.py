"""`/mcp` and `/mcp/{collection}`: one POST is one message and its answer (Streamable HTTP, no stream)."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework.exceptions import NotAuthenticated

from core.errors import ToolHubError
from core.parsers import BODY_MAX, parse_body
from core.problems import drf_exception_handler
from execution.entry.mcp.answers import refused_answer, refused_by, result_answer
from execution.entry.mcp.calls import tool_call, tool_call_known
from execution.entry.mcp.door import Door
from execution.entry.mcp.methods import METHODS
from execution.entry.mcp.reader import CALL, Notification, Request, message_read
from execution.runs.authentication import caller_kept, caller_read
from registry.collections.selectors import collection_missing, sight_of
from security.authentication import principal_read
from security.principals import PersonaPrincipal

METHOD = "POST"
# Bytes of a body that the hub parses before it knows the caller: the body names the tool, and one statement
# reads both. Parsing so many takes a millisecond. The caller of a larger body is looked up first.
READ_FIRST = 16_384
# Headers of a call that is not over when it is accepted, or may be the same as one before.
_OWN_WAY = frozenset({"HTTP_PREFER", "HTTP_IDEMPOTENCY_KEY"})


@csrf_exempt
def mcp(request: HttpRequest, collection: str = "") -> HttpResponse:
    """Answers an MCP client. Who may not ask gets a problem (RFC 9457), who may an answer of JSON-RPC 2.0."""
    try:
        return _message_answered(request, collection)
    except Exception as error:  # noqa: BLE001 - each leaves as a problem, as from the API
        return drf_exception_handler(error, {"view": mcp})


def _message_answered(request: HttpRequest, collection: str) -> HttpResponse:
    _origin_check(request)
    if request.method != METHOD:
        # There is no stream to listen to, and no session to end.
        response = drf_exception_handler(
            ToolHubError("An MCP client sends POST here.", code="METHOD_NOT_ALLOWED"), {}
        )
        response["Allow"] = METHOD
        return response
    if _length(request) > READ_FIRST:
        _principal(request)
    message = _parsed(request.read(BODY_MAX + 1))
    read = message_read(message, request.META)
    if isinstance(read, Request) and read.method == CALL:
        return _called(request, collection, read)
    principal = _principal(request)
    _collection_check(principal, collection)
    door = _door(request, principal, collection)
    if isinstance(read, Request):
        return _answered(read, partial(METHODS[read.method], door, read.version, read.params))
    if isinstance(read, Notification):
        # Nothing here has to hear of one: a call ends by its own bounds, whatever its caller does meanwhile.
        return HttpResponse(status=202)
    # The official types take 46 MB of a process and a second, and are seldom needed.
    from execution.entry.mcp.messages import message_answer  # noqa: PLC0415

    return message_answer(door, message)


def _called(request: HttpRequest, collection: str, call: Request) -> HttpResponse:
    """The answer to a call, by what this process knew of the caller where that still holds."""
    header = request.META.get("HTTP_AUTHORIZATION", "")
    if not collection and _OWN_WAY.isdisjoint(request.META):
        kept = caller_kept(header, call.tool)
        if kept:
            told = _carried_out(call, partial(tool_call_known, _door(request, kept[0]), call, *kept[1:]))
            if told is not None:
                return told
    principal, known = caller_read(header, call.tool)
    _collection_check(principal, collection)
    door = _door(request, principal, collection)
    return _answered(call, partial(tool_call, door, call.version, call.params, found=known))


def _answered(request: Request, carry_out: Callable[[], dict[str, Any]]) -> HttpResponse:
    """The answer to a request that always has one."""
    told = _carried_out(request, carry_out)
    assert told is not None  # noqa: S101 - for types
    return told


def _carried_out(request: Request, carry_out: Callable[[], dict[str, Any] | None]) -> HttpResponse | None:
    """The answer to a request; None where `carry_out` has none."""
    try:
        told = carry_out()
        return None if told is None else result_answer(request.number, told)
    except Exception as error:  # noqa: BLE001 - each leaves as an error of JSON-RPC
        return refused_answer(request.number, refused_by(request.method, error))


def _door(request: HttpRequest, principal: PersonaPrincipal, collection: str = "") -> Door:
    return Door(principal, collection, request.META)


def _length(request: HttpRequest) -> int:
    """The body's length as the client gives it; beyond all bounds where it gives none."""
    text = request.META.get("CONTENT_LENGTH") or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else BODY_MAX


def _principal(request: HttpRequest) -> PersonaPrincipal:
    principal = principal_read(request.META.get("HTTP_AUTHORIZATION", ""))
    if principal is None:
        raise NotAuthenticated
    return principal


def _parsed(body: bytes) -> Any:
    """The body's value, or the error that says why it has none: first it is looked at who asks."""
    try:
        return parse_body(body)
    except ToolHubError as error:
        return error


def _collection_check(principal: PersonaPrincipal, collection: str) -> None:
    if collection and not sight_of(principal.persona_id).collections.filter(name=collection).exists():
        raise collection_missing(collection)


def _origin_check(request: HttpRequest) -> None:
    """Refuses a page of somebody else in a browser, as the protocol asks of servers."""
    origin = request.META.get("HTTP_ORIGIN")
    if origin is None or origin in settings.CSRF_TRUSTED_ORIGINS:
        return
    if origin not in {f"{scheme}://{request.get_host()}" for scheme in ("http", "https")}:
        raise ToolHubError(
            "A page of another site may not ask this hub.",
            code="PERMISSION_DENIED",
            suggestions=["Use a client outside a browser, or serve the page under the hub's own address."],
        )
