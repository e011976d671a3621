"""The one translation of errors into responses: problem details per RFC 9457."""

import logging
from typing import Any

import orjson
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import DatabaseError, DataError, InterfaceError
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.views import set_rollback

from core.errors import InvalidRequest, NotFound, RecordUnavailable, ToolHubError
from core.routes import routes_like

log = logging.getLogger(__name__)


def problem(error: ToolHubError) -> HttpResponse:
    """The response for an error: its status, `application/problem+json`, Retry-After and WWW-Authenticate."""
    body: dict[str, Any] = {
        "type": f"/api/docs/errors#{error.code}",
        "title": error.known.meaning,
        "status": error.known.status,
        "detail": error.message,
        "error": error.as_error(),
    }
    if error.errors:
        body["errors"] = error.errors
    if "decision" in error.data:
        body["decision"] = body["error"]["details"].pop("decision")
    response = HttpResponse(
        orjson.dumps(body), status=error.known.status, content_type="application/problem+json"
    )
    if error.retry_after is not None:
        response["Retry-After"] = str(error.retry_after)
    if error.known.status == 401:
        response["WWW-Authenticate"] = 'Bearer realm="toolhub"'
    return response


def as_toolhub_error(error: Exception) -> ToolHubError | None:
    """What Django, DRF or the database raised, in the hub's own terms; None for a mistake of ours."""
    match error:
        case ToolHubError():
            return error
        case Http404() | exceptions.NotFound():
            return NotFound("There is nothing at this address for this caller.")
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            return ToolHubError(str(error.detail), code="UNAUTHENTICATED")
        case PermissionDenied() | exceptions.PermissionDenied():
            return ToolHubError("This is not allowed for this caller.", code="PERMISSION_DENIED")
        case exceptions.MethodNotAllowed():
            return ToolHubError(str(error.detail), code="METHOD_NOT_ALLOWED")
        case RequestDataTooBig():
            return ToolHubError("The request is larger than 1 MiB.", code="TOO_LARGE")
        case SuspiciousOperation() | exceptions.APIException():
            return ToolHubError("The request could not be read.", code="NOT_JSON")
        case DataError():
            # Where nobody looked before: the same request would fail again.
            log.warning("a value that the database does not take", exc_info=error)
            return InvalidRequest(
                "The record cannot hold a value: a text with NUL (U+0000), or a number too large."
            )
        case DatabaseError() | InterfaceError():
            log.error("database error", exc_info=error)
            return RecordUnavailable(
                "The database did not answer. With the same Idempotency-Key the call can be repeated safely.",
                retry_after=5,
            )
    return None


def drf_exception_handler(error: Exception, context: dict[str, Any]) -> HttpResponse:
    """DRF's EXCEPTION_HANDLER: every error of the API leaves as a problem, none with a trace."""
    known = as_toolhub_error(error)
    set_rollback()
    if known is None:
        log.error("unexpected error in %s", type(context.get("view")).__name__, exc_info=error)
        known = ToolHubError("The hub made a mistake. It is logged under the request's id.", code="INTERNAL")
    if not isinstance(error, exceptions.MethodNotAllowed):
        return problem(known)
    view = context.get("view")
    allowed = ", ".join(view.allowed_methods) if view else ""
    known.suggestions = [f"Send one of {allowed} to this address."]
    response = problem(known)
    response["Allow"] = allowed
    return response


@csrf_exempt
def api_not_found(request: HttpRequest, rest: str = "") -> HttpResponse:
    """What any unknown address under /api/ answers, with those that are like it."""
    near = routes_like(request.path_info, request.path_info.removesuffix(rest))
    return problem(
        NotFound(
            "There is nothing at this address.",
            suggestions=[f"Did you mean {' or '.join(near)}?"] if near else (),
            data={"near": near} if near else {},
        )
    )
