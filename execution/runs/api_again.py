"""REST for what can be done with a finished run: retry, replay, cleanup."""

from typing import Any
from uuid import UUID

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.errors import InvalidRequest, ToolHubError
from core.parsers import empty_check
from execution.engine.selectors import run_of
from execution.engine.waiters import WAITERS
from execution.engine.waiting import run_await
from execution.runs import openapi_again
from execution.runs.again import run_retry
from execution.runs.api import result_response
from execution.runs.cleanup import run_cleanup
from execution.runs.preferences import key_read, manner_read
from execution.runs.replay import Replay, run_replay
from registry.schemas import pointer
from security.principals import caller

_MEMBERS: dict[str, tuple[type, str]] = {"version": (str, "a string"), "again": (bool, "true or false")}


class RunRetry(APIView):
    """POST runs/{id}/retry."""

    @extend_schema(**openapi_again.RETRY)
    def post(self, request: Request, run_id: UUID) -> HttpResponse:
        principal = caller(request)
        body_read(request.data, {})
        manner = manner_read(request.headers.get("Prefer", ""))
        run = run_retry(
            principal=principal,
            run=run_of(run_id, principal.persona_id),
            manner=manner,
            key=key_read(request.headers.get("Idempotency-Key")),
        )
        if not manner.detached:
            run = run_await(run, principal.persona_id, manner.wait_s)
        return result_response(run)


class RunReplay(APIView):
    """POST runs/{id}/replay."""

    @extend_schema(**openapi_again.REPLAY)
    def post(self, request: Request, run_id: UUID) -> HttpResponse:
        principal = caller(request)
        wishes = body_read(request.data, _MEMBERS)
        manner = manner_read(request.headers.get("Prefer", ""))
        found = run_replay(
            principal=principal,
            run=run_of(run_id, principal.persona_id),
            manner=manner,
            key=key_read(request.headers.get("Idempotency-Key")),
            **wishes,
        )
        if not manner.detached and not found.finished:
            replay = run_await(found.replay, principal.persona_id, manner.wait_s)
            found = Replay(found.original, replay)
        return replay_response(found)


class RunCleanup(APIView):
    """POST runs/{id}/cleanup."""

    @extend_schema(**openapi_again.CLEANUP)
    def post(self, request: Request, run_id: UUID) -> Response:
        empty_check(request.stream)
        run_cleanup(by=caller(request).actor, run=run_of(run_id, caller(request).persona_id))
        return Response({"cleaned": True})


def replay_response(found: Replay) -> HttpResponse:
    """200 with the comparison, or 202 while the replay has no outcome."""
    response = HttpResponse(
        orjson.dumps(found.as_dict()),
        status=200 if found.finished else 202,
        content_type="application/json",
    )
    if not found.finished:
        response["Location"] = f"/api/v1/runs/{found.replay.pk}"
        response["Retry-After"] = str(WAITERS.retry_after_s())
    return response


def body_read(body: Any, members: dict[str, tuple[type, str]]) -> dict[str, Any]:
    """A body that may be empty, with these members. Raises InvalidRequest and ToolHubError (422)."""
    if not isinstance(body, dict):
        raise InvalidRequest("The body must be an object, or empty.")
    known = f"Known: {', '.join(members)}." if members else "The body has no members."
    unknown = [
        {"pointer": pointer([name]), "message": f"Unknown. {known}"} for name in body if name not in members
    ]
    if unknown:
        raise ToolHubError("The request has unknown members.", code="UNKNOWN_MEMBER", errors=unknown)
    errors = [
        {"pointer": pointer([name]), "message": f"This must be {members[name][1]}."}
        for name, value in body.items()
        if not isinstance(value, members[name][0])
    ]
    if errors:
        raise InvalidRequest("The request does not fit.", errors=errors)
    return body
