"""REST for calls and runs."""

import functools
from collections.abc import Callable
from typing import Any
from uuid import UUID

import orjson
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.errors import Denied, ToolHubError
from core.parsers import BODY_MAX, empty_check, parse_body
from core.plain import PlainView
from core.renderers import EventStreamRenderer, JSONRenderer
from execution.engine.brief import events_of
from execution.engine.calls.next_call import next_call_of_body
from execution.engine.events import event_view, sequence_read
from execution.engine.requests import CallRequest, request_read
from execution.engine.results import envelope, run_view
from execution.engine.selectors import run_of
from execution.engine.states import FINAL, SETTLED
from execution.engine.store.known import Proof
from execution.engine.submit import Manner, run_cancel, run_submit, run_submit_known
from execution.engine.waiters import WAITERS
from execution.engine.waiting import run_await
from execution.models import Run
from execution.runs import openapi
from execution.runs.authentication import caller_kept, caller_read
from execution.runs.preferences import key_read, manner_read, wait_read
from execution.runs.streams import event_stream, events_wait
from registry.selectors import ResolvedTool
from security.authentication import caller_anew
from security.principals import PersonaPrincipal, caller

View = Callable[[Run], dict[str, Any]]
Body = Callable[[], bytes]


def result_response(run: Run, *, missing: int = 202, view: View = envelope) -> HttpResponse:
    """200 with the result, or `missing` with the state of now while there is none."""
    done = run.status in FINAL
    response = HttpResponse(
        orjson.dumps(view(run)), status=200 if done else missing, content_type="application/json"
    )
    if not done:
        response["Location"] = f"/api/v1/runs/{run.pk}"
        response["Retry-After"] = str(WAITERS.retry_after_s())
    return response


class ToolExecute(PlainView):
    """POST tools/{name}/execute."""

    @extend_schema(**openapi.EXECUTE)
    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        header = request.META.get("HTTP_AUTHORIZATION", "")
        # Not before somebody is known to ask, and once.
        body = functools.cache(functools.partial(request.read, BODY_MAX + 1))
        manner = manner_read(request.META.get("HTTP_PREFER", ""))
        key = request.META.get("HTTP_IDEMPOTENCY_KEY")
        kept = caller_kept(header, name)
        run = kept and _known(body, *kept, manner, key)
        if not run:
            principal, found = caller_read(header, name)
            run = run_submit(
                principal=principal,
                name=name,
                found=found,
                request=_request_or_advice(body, name, principal, found),
                manner=manner,
                key=key_read(key),
            )
        if not manner.detached and run.status not in SETTLED:
            run = run_await(run, run.persona_id, manner.wait_s)
        response = result_response(run)
        if manner.detached:
            response["Preference-Applied"] = "respond-async"
        return response


def _known(
    body: Body,
    principal: PersonaPrincipal,
    found: ResolvedTool,
    proof: Proof,
    manner: Manner,
    key: str | None,
) -> Run | None:
    """A call by what this process knew before; None where it has to be made anew."""
    try:
        asked, key = _request(body), key_read(key)
    except ToolHubError:  # whose token it was is looked at first
        return None
    return run_submit_known(
        principal=principal, found=found, request=asked, manner=manner, proof=proof, key=key
    )


def _request_or_advice(
    body: Body, name: str, principal: PersonaPrincipal, found: ResolvedTool | None
) -> CallRequest:
    """The call request. The error for a body that is none shows what to send instead."""
    try:
        return _request(body)
    except ToolHubError as error:
        if error.code != "TOO_LARGE":
            next_call_of_body(error, name, principal.persona_id, found, _parsed(body))
        raise


def _parsed(body: Body) -> Any:
    """The body's value; the bytes themselves where they are no JSON."""
    try:
        return parse_body(body())
    except ToolHubError:
        return body()


def _request(body: Body) -> CallRequest:
    return request_read(parse_body(body()))


class RunDetail(APIView):
    """GET runs/{id}."""

    @extend_schema(**openapi.RUN)
    def get(self, request: Request, run_id: UUID) -> HttpResponse:
        wait_s = wait_read(request.query_params.get("wait"))
        persona_id = caller(request).persona_id
        run = run_of(run_id, persona_id)
        if wait_s and run.status not in SETTLED:
            run = run_await(run, persona_id, wait_s)
            caller_anew(request)
        return result_response(run, missing=200, view=run_view)


class RunEvents(APIView):
    """GET runs/{id}/events: at once, as a long poll, or as server-sent events."""

    renderer_classes = (JSONRenderer, EventStreamRenderer)

    @extend_schema(**openapi.EVENTS)
    def get(self, request: Request, run_id: UUID) -> Response | StreamingHttpResponse:
        run = run_of(run_id, caller(request).persona_id)
        after = sequence_read(request.headers.get("Last-Event-ID") or request.query_params.get("after"))
        if request.accepted_renderer.format == EventStreamRenderer.format:
            told = event_stream(run.pk, after, functools.partial(_may_hear, request))
            response = StreamingHttpResponse(told, content_type="text/event-stream")
            response["Cache-Control"] = "no-store"
            response["X-Accel-Buffering"] = "no"
            return response
        wait_s = wait_read(request.query_params.get("wait"))
        if wait_s and run.status not in FINAL and events_wait(run.pk, after, wait_s):
            run = run_of(run_id, caller_anew(request).persona_id)
        events = [event_view(event, run) for event in events_of(run, after)]
        return Response({"events": events, "finished": run.status in FINAL})


def _may_hear(request: Request) -> bool:
    """Whether who asked still has a valid token of an active persona."""
    try:
        caller_anew(request)
    except (AuthenticationFailed, Denied):
        return False
    return True


class RunCancel(APIView):
    """POST runs/{id}/cancel."""

    @extend_schema(**openapi.CANCEL)
    def post(self, request: Request, run_id: UUID) -> Response:
        empty_check(request.stream)
        run = run_of(run_id, caller(request).persona_id)
        body: dict[str, Any] = {"cancelled": run_cancel(by=caller(request).actor, run=run)}
        return Response(body)
