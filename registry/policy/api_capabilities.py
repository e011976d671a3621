"""REST for the catalogue of capabilities."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.edits import editing
from core.etags import if_match, tagged
from core.keyset import page_after
from core.openapi import tagged_read, versioned
from registry.bodies import body_check
from registry.policy.kept import capabilities_kept
from registry.policy.openapi import AFTER, ERRORS, MANAGES, READ_ERRORS, form, page_of
from registry.schemas import validator_build
from security.acting import PERSONAS, acting, person_answering, reading
from security.edits import CAPABILITY as EDITED
from security.policy.catalogue import RISKS, capability_describe
from security.policy.models import Capability
from security.policy.selectors import capabilities_page, capability_detail
from security.principals import caller

CAPABILITY: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string"},
        "description": {"type": "string"},
        "risk": {"type": "string", "enum": list(RISKS)},
    },
}
_FORM = form(
    {"description": {"type": "string", "maxLength": 300}, "risk": {"type": "string", "enum": list(RISKS)}}
)
_VALIDATOR = validator_build(_FORM)
_LIST: dict[str, Any] = {
    "operation_id": "capability_catalogue",
    "summary": "List the catalogue of capabilities",
    "description": MANAGES,
    "parameters": [
        OpenApiParameter("risk", str, enum=RISKS, description="Of this risk only."),
        OpenApiParameter("q", str, description="A part of name or description."),
        AFTER,
    ],
    "responses": {200: OpenApiResponse(page_of("capabilities", CAPABILITY)), **READ_ERRORS},
}
_READ: dict[str, Any] = {
    "operation_id": "capability_get",
    "summary": "Read a capability of the catalogue",
    "description": MANAGES,
    "responses": {200: OpenApiResponse(CAPABILITY), **READ_ERRORS},
}
_CHANGE: dict[str, Any] = {
    "operation_id": "capability_describe",
    "summary": "Say what a capability means and how much harm it can do",
    "description": MANAGES,
    "request": {"application/json": _FORM},
    "examples": [OpenApiExample("risk", value={"risk": "high"}, request_only=True)],
    "responses": {200: OpenApiResponse(CAPABILITY), **ERRORS},
}


def capability_view(row: Capability) -> dict[str, Any]:
    """As the API tells it."""
    return {"id": row.pk, "name": row.name, "description": row.description, "risk": row.risk}


class CapabilityCatalogue(APIView):
    """GET capabilities/catalogue."""

    @extend_schema(**_LIST)
    def get(self, request: Request) -> Response:
        by = reading(caller(request), "policy.view_capability", PERSONAS)
        known = capabilities_page(request.query_params, capabilities_kept(by)).order_by("-pk")
        rows, more = page_after(known, request.query_params)
        return Response({"capabilities": [capability_view(row) for row in rows], "next": more})


class CapabilityDetail(APIView):
    """GET and PATCH capabilities/catalogue/{id}."""

    @extend_schema(**tagged_read(_READ))
    def get(self, request: Request, pk: int) -> Response:
        by = reading(caller(request), "policy.view_capability", PERSONAS)
        return _capability(capability_detail(pk, capabilities_kept(by)))

    @extend_schema(**versioned(_CHANGE))
    def patch(self, request: Request, pk: int) -> Response:
        acting(caller(request), "policy.change_capability", PERSONAS)
        kept = capabilities_kept(person_answering(caller(request)))
        row, body = capability_detail(pk, kept), request.data
        body_check(_VALIDATOR, body)
        wishes = {"description": row.description, "risk": row.risk, **body}
        with editing(EDITED.of(row), if_match(request), body):
            capability_describe(by=caller(request), capability=row, **wishes)
        return _capability(capability_detail(pk))


def _capability(row: Capability) -> Response:
    return tagged(Response(capability_view(row)), EDITED.of(row))
