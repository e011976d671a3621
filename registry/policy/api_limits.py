"""The API of limits: quotas and rates."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.edits import editing
from core.etags import if_match, tagged
from core.keyset import page_after
from core.openapi import tagged_read, versioned
from registry.bodies import body_check
from registry.policy.limits_view import limit_view
from registry.policy.named import persona_named, tier_named, tool_named
from registry.policy.openapi import AFTER, ERRORS, LIMIT, MANAGES, NAME, READ_ERRORS, form, page_of
from registry.schemas import validator_build
from security.acting import PERSONAS, reading
from security.edits import LIMIT as EDITED
from security.idempotency import creates
from security.policy.limits import AMOUNT_MAX, WINDOW_MAX, limit_change, limit_create, limit_delete
from security.policy.models import Limit
from security.policy.selectors import limit_detail, limits_page
from security.principals import caller

_CHANGEABLE: dict[str, Any] = {
    "kind": {"type": "string", "enum": Limit.Kind.values},
    "amount": {"type": "integer", "minimum": 1, "maximum": AMOUNT_MAX},
    "window_s": {"type": "integer", "minimum": 1, "maximum": WINDOW_MAX},
}
_FORM = form(
    {
        **_CHANGEABLE,
        "measure": {"type": "string", "enum": Limit.Measure.values, "default": "calls"},
        "persona": NAME,
        "tier": NAME,
        "tool": NAME,
    },
    "kind",
    "amount",
    "window_s",
    description="At most `amount` of `measure` in `window_s` seconds from the first call on: for a persona, "
    "for each persona on a tier, or, with a tool alone, for all personas together.",
)
_CHANGE_FORM = form(
    _CHANGEABLE,
    description="The values to change; the others stay. What the limit counts (persona, tier, tool and "
    "measure) cannot be changed.",
)
_VALIDATOR, _CHANGE_VALIDATOR = validator_build(_FORM), validator_build(_CHANGE_FORM)
_LIST: dict[str, Any] = {
    "operation_id": "limits_list",
    "summary": "List quotas and rate limits",
    "description": MANAGES,
    "parameters": [
        OpenApiParameter("persona", str, description="Its name."),
        OpenApiParameter("tier", str, description="Its name."),
        OpenApiParameter("tool", str, description="Its name."),
        OpenApiParameter("q", str, description="A part of one of these names."),
        AFTER,
    ],
    "responses": {200: OpenApiResponse(page_of("limits", LIMIT)), **READ_ERRORS},
}
_CREATE: dict[str, Any] = {
    "operation_id": "limit_create",
    "summary": "Limit calls, from the next one on",
    "description": f"Calls beyond it are answered 429, RATE_LIMIT or QUOTA_EXCEEDED. {MANAGES}",
    "request": {"application/json": _FORM},
    "examples": [
        OpenApiExample(
            "quota",
            value={"kind": "quota", "amount": 10, "window_s": 86400, "persona": "researcher", "tool": "echo"},
            request_only=True,
        )
    ],
    "responses": {201: OpenApiResponse(LIMIT), **ERRORS},
}
_READ: dict[str, Any] = {
    "operation_id": "limit_get",
    "summary": "Read a limit",
    "description": MANAGES,
    "responses": {200: OpenApiResponse(LIMIT), **READ_ERRORS},
}
_CHANGE: dict[str, Any] = {
    "operation_id": "limit_change",
    "summary": "Change a limit, from the next call on",
    "description": "A window that is open keeps its start and its count. A larger amount or a shorter window "
    f"loosens the limit, so a person changes it. {MANAGES}",
    "request": {"application/json": _CHANGE_FORM},
    "examples": [OpenApiExample("tighter", value={"amount": 5}, request_only=True)],
    "responses": {200: OpenApiResponse(LIMIT), **ERRORS},
}
_DELETE: dict[str, Any] = {
    "operation_id": "limit_delete",
    "summary": "Take a limit away",
    "description": MANAGES,
    "request": None,
    "responses": {204: OpenApiResponse(description="It is gone."), **READ_ERRORS},
}


class Limits(APIView):
    """GET and POST limits."""

    @extend_schema(**_LIST)
    def get(self, request: Request) -> Response:
        by = reading(caller(request), "policy.view_limit", PERSONAS)
        rows, more = page_after(limits_page(request.query_params, by), request.query_params)
        return Response({"limits": [limit_view(row) for row in rows], "next": more})

    @creates(_CREATE)
    def post(self, request: Request) -> Response:
        body: Any = request.data
        body_check(_VALIDATOR, body)
        by = reading(caller(request), "policy.add_limit", PERSONAS)
        wishes = {
            "measure": "calls",
            **body,
            "persona": persona_named(body.get("persona", ""), by),
            "tier": tier_named(body.get("tier", "")),
            "tool": tool_named(body.get("tool", ""), by),
        }
        return Response(limit_view(limit_create(by=caller(request), **wishes)), status=201)


class LimitDetail(APIView):
    """GET, PATCH and DELETE limits/{id}."""

    @extend_schema(**tagged_read(_READ))
    def get(self, request: Request, pk: int) -> Response:
        row = self._limit(request, pk, "policy.view_limit")
        return tagged(Response(limit_view(row)), EDITED.of(row))

    @extend_schema(**versioned(_CHANGE))
    def patch(self, request: Request, pk: int) -> Response:
        limit, body = self._limit(request, pk, "policy.change_limit"), request.data
        body_check(_CHANGE_VALIDATOR, body)
        with editing(EDITED.of(limit), if_match(request), body):
            row = limit_change(by=caller(request), limit=limit, **body)
        return tagged(Response(limit_view(row)), EDITED.of(row))

    @extend_schema(**versioned(_DELETE))
    def delete(self, request: Request, pk: int) -> HttpResponse:
        limit = self._limit(request, pk, "policy.delete_limit")
        with editing(EDITED.of(limit), if_match(request)):
            limit_delete(by=caller(request), limit=limit)
        return HttpResponse(status=204)

    def _limit(self, request: Request, pk: int, permission: str) -> Limit:
        return limit_detail(pk, reading(caller(request), permission, PERSONAS))
