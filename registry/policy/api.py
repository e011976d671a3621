"""REST for restrictions and pauses."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.edits import editing
from core.etags import if_match, tagged
from core.keyset import page_after
from core.openapi import tagged_read, versioned
from registry.bodies import body_check
from registry.policy import openapi
from registry.policy.named import persona_named, time_read, tool_named
from security.acting import PERSONAS, reading
from security.edits import RESTRICTION
from security.idempotency import creates
from security.policy.models import Restriction
from security.policy.selectors import restriction_detail, restrictions_page
from security.policy.services import pause_begin, restriction_create, restriction_lift
from security.principals import caller


def restriction_view(row: Restriction) -> dict[str, Any]:
    """As the API tells it."""
    return {
        "id": row.pk,
        "kind": "pause" if row.is_pause else "restriction",
        "persona": row.persona.name if row.persona else None,
        "tool": row.tool or None,
        "capability": row.capability or None,
        "reason": row.reason,
        "created_by": row.created_by.get_username(),
        "created_at": row.created_at,
        "expires_at": row.expires_at,
    }


class Restrictions(APIView):
    """GET and POST restrictions."""

    @extend_schema(**openapi.LIST)
    def get(self, request: Request) -> Response:
        by = reading(caller(request), "policy.view_restriction", PERSONAS)
        rows, more = page_after(restrictions_page(request.query_params, by), request.query_params)
        return Response({"restrictions": [restriction_view(row) for row in rows], "next": more})

    @creates(openapi.CREATE)
    def post(self, request: Request) -> Response:
        wishes = _wishes(openapi.RESTRICTION_VALIDATOR, request)
        return Response(restriction_view(restriction_create(by=caller(request), **wishes)), status=201)


class Pauses(APIView):
    """POST pauses."""

    @creates(openapi.PAUSE)
    def post(self, request: Request) -> Response:
        wishes = _wishes(openapi.PAUSE_VALIDATOR, request)
        return Response(restriction_view(pause_begin(by=caller(request), **wishes)), status=201)


def _wishes(validator: Any, request: Request) -> dict[str, Any]:
    """What the services take. Raises ToolHubError (422) with pointers, Denied."""
    body: Any = request.data
    body_check(validator, body)
    by = reading(caller(request), "policy.add_restriction", PERSONAS)
    return {
        **body,
        "persona": persona_named(body.get("persona", ""), by),
        "tool": tool_named(body.get("tool", ""), by),
        "expires_at": time_read(body.get("expires_at")),
    }


class RestrictionDetail(APIView):
    """GET and DELETE restrictions/{id}."""

    @extend_schema(**tagged_read(openapi.READ))
    def get(self, request: Request, pk: int) -> Response:
        row = restriction_detail(pk, reading(caller(request), "policy.view_restriction", PERSONAS))
        return tagged(Response(restriction_view(row)), RESTRICTION.of(row))

    @extend_schema(**versioned(openapi.LIFT))
    def delete(self, request: Request, pk: int) -> HttpResponse:
        by = reading(caller(request), "policy.delete_restriction", PERSONAS)
        restriction = restriction_detail(pk, by)
        with editing(RESTRICTION.of(restriction), if_match(request)):
            restriction_lift(by=caller(request), restriction=restriction)
        return HttpResponse(status=204)
