"""REST for a session's events and the webhooks that get them."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from execution.engine.events import iso, sequence_read
from execution.memory import openapi
from execution.memory.events import events_after
from execution.memory.models import Webhook
from execution.memory.selectors import session_get
from execution.memory.webhooks import event_view, webhook_add, webhook_remove
from registry.bodies import body_check
from registry.schemas import validator_build
from security.idempotency import creates
from security.principals import caller

PAGE = 100
_NEW = validator_build(openapi.WEBHOOK_NEW)


def _webhook_view(row: Webhook) -> dict[str, Any]:
    return {"id": row.pk, "url": row.url, "events": row.events, "created_at": iso(row.created_at)}


class SessionEvents(APIView):
    """GET sessions/{session_id}/events."""

    @extend_schema(
        operation_id="session_events",
        summary="Read what runs told a session",
        parameters=[openapi.AFTER_SEQ],
        responses=openapi.said(openapi.EVENTS, "In order, at most 100.", 401, 404),
    )
    def get(self, request: Request, session_id: str) -> Response:
        session = session_get(caller(request).persona_id, session_id)
        rows = events_after(session, sequence_read(request.query_params.get("after")), PAGE + 1)
        more = rows[PAGE - 1].seq if len(rows) > PAGE else None
        return Response({"events": [event_view(row) for row in rows[:PAGE]], "next": more})


class Webhooks(APIView):
    """GET and POST webhooks."""

    @extend_schema(
        operation_id="webhooks_list",
        summary="List the persona's webhooks",
        responses=openapi.said(openapi.WEBHOOKS, "At most 20.", 401),
    )
    def get(self, request: Request) -> Response:
        rows = Webhook.objects.filter(persona_id=caller(request).persona_id).order_by("pk")
        return Response({"webhooks": [_webhook_view(row) for row in rows]})

    @creates(
        {
            "operation_id": "webhook_add",
            "summary": "Have session events posted to an address, signed",
            "request": {"application/json": openapi.WEBHOOK_NEW},
            "responses": openapi.said(
                openapi.WEBHOOK, "It gets events from now on.", 401, 422, 503, status=201
            ),
        }
    )
    def post(self, request: Request) -> Response:
        body: Any = request.data
        body_check(_NEW, body)
        who = caller(request)
        row = webhook_add(by=who.actor, persona_id=who.persona_id, url=body["url"], events=body["events"])
        return Response(_webhook_view(row), status=201)


class WebhookDetail(APIView):
    """DELETE webhooks/{id}."""

    @extend_schema(
        operation_id="webhook_remove",
        summary="Remove a webhook; what is owed to it is dropped",
        responses=openapi.said(None, "It gets nothing more.", 401, 404, 503, status=204),
    )
    def delete(self, request: Request, pk: int) -> Response:
        webhook_remove(by=caller(request).actor, persona_id=caller(request).persona_id, pk=pk)
        return Response(status=204)
