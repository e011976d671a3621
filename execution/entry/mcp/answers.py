"""The answers of JSON-RPC 2.0: a result or an error under the request's id."""

import logging
from collections.abc import Mapping
from typing import Any

import orjson
from django.http import HttpResponse

from core.errors import ToolHubError
from core.problems import as_toolhub_error
from execution.entry.mcp.protocol import ERROR_STATUS, INTERNAL_ERROR, INVALID_PARAMS
from execution.entry.mcp.refused import Refused

log = logging.getLogger(__name__)


def result_answer(number: int | str, result: Mapping[str, Any]) -> HttpResponse:
    """The response with a method's result."""
    return _sent({"id": number, "result": result})


def refused_answer(number: int | str | None, refused: Refused) -> HttpResponse:
    """The response with an error, under the HTTP status that the protocol's own table gives it, else 200."""
    error = {"code": refused.code, "message": refused.message}
    data = {} if refused.data is None else {"data": refused.data}
    return _sent({"id": number, "error": error | data}, ERROR_STATUS.get(refused.code, 200))


def refused_by(method: str, error: Exception) -> Refused:
    """The protocol's error for what a method raised; a mistake of the hub's own is logged."""
    if isinstance(error, Refused):
        return error
    known = as_toolhub_error(error)
    if known is None:
        log.error("MCP's %s failed", method, exc_info=error)
        known = ToolHubError("The hub made a mistake. It is logged under the request's id.")
    code = INVALID_PARAMS if known.known.status in (404, 422) else INTERNAL_ERROR
    return Refused(code, known.message, known.as_error())


def _sent(body: Mapping[str, Any], status: int = 200) -> HttpResponse:
    return HttpResponse(
        orjson.dumps({"jsonrpc": "2.0", **body}), status=status, content_type="application/json"
    )
