"""REST for restrictions, pauses and a persona's standing."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.errors import InvalidRequest
from registry.bodies import body_check
from registry.personas.selectors import persona_detail
from registry.policy import openapi
from registry.policy.limits_view import limits_view
from registry.policy.named import persona_named, tier_named, time_read, tool_named
from security.acting import PERSONAS, acting
from security.models import Persona
from security.policy.models import Restriction
from security.policy.selectors import PolicyBook, restriction_detail, restrictions_page, standing_of
from security.policy.services import isolation_set, pause_begin, restriction_create, restriction_lift
from security.policy.tiers import tier_set
from security.principals import PersonaPrincipal, caller

PAGE = 100


def rows_page(rows: QuerySet[Any], request: Request) -> tuple[list[Any], str | None]:
    """A page of rows, newest first, after `?after=`; and the `next`. Raises InvalidRequest."""
    after = request.query_params.get("after", "")
    if after:
        if not (after.isascii() and after.isdigit() and len(after) < 19):
            message = "after must be the `next` of the page before."
            raise InvalidRequest(message, errors=[{"pointer": "/after", "message": message}])
        rows = rows.filter(pk__lt=int(after))
    found = list(rows[: PAGE + 1])
    return found[:PAGE], str(found[PAGE - 1].pk) if len(found) > PAGE else None


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
        acting(caller(request), "policy.view_restriction", PERSONAS)
        rows, more = rows_page(restrictions_page(request.query_params), request)
        return Response({"restrictions": [restriction_view(row) for row in rows], "next": more})

    @extend_schema(**openapi.CREATE)
    def post(self, request: Request) -> Response:
        wishes = _wishes(openapi.RESTRICTION_VALIDATOR, request.data)
        return Response(restriction_view(restriction_create(by=caller(request), **wishes)), status=201)


class Pauses(APIView):
    """POST pauses."""

    @extend_schema(**openapi.PAUSE)
    def post(self, request: Request) -> Response:
        wishes = _wishes(openapi.PAUSE_VALIDATOR, request.data)
        return Response(restriction_view(pause_begin(by=caller(request), **wishes)), status=201)


def _wishes(validator: Any, body: Any) -> dict[str, Any]:
    """What the services take. Raises ToolHubError (422) with pointers."""
    body_check(validator, body)
    return {
        **body,
        "persona": persona_named(body.get("persona", "")),
        "tool": tool_named(body.get("tool", "")),
        "expires_at": time_read(body.get("expires_at")),
    }


class RestrictionDetail(APIView):
    """DELETE restrictions/{id}."""

    @extend_schema(**openapi.LIFT)
    def delete(self, request: Request, pk: int) -> HttpResponse:
        acting(caller(request), "policy.delete_restriction", PERSONAS)
        restriction_lift(by=caller(request), restriction=restriction_detail(pk))
        return HttpResponse(status=204)


class PersonaDetail(APIView):
    """GET and PATCH personas/{name}."""

    @extend_schema(**openapi.PERSONA_READ)
    def get(self, request: Request, name: str) -> Response:
        return Response(persona_view(_persona_seen(caller(request), name)))

    @extend_schema(**openapi.PERSONA_CHANGE)
    def patch(self, request: Request, name: str) -> Response:
        persona = _persona_seen(caller(request), name)
        body_check(openapi.STANDING_VALIDATOR, request.data)
        by, wanted = caller(request), request.data
        tier = tier_named(wanted.get("tier") or "")
        with transaction.atomic():
            if "isolation" in wanted:
                isolation_set(by=by, persona=persona, isolation=wanted["isolation"])
            if "tier" in wanted:
                tier_set(by=by, persona=persona, tier=tier)
        return Response(persona_view(persona_detail(name)))


def _persona_seen(by: PersonaPrincipal, name: str) -> Persona:
    """The persona; an agent sees its own. Raises Denied, NotFound."""
    if name != by.persona:
        acting(by, "security.view_persona", PERSONAS)
    return persona_detail(name)


def persona_view(persona: Persona) -> dict[str, Any]:
    """A persona with all that its calls are decided by."""
    standing = standing_of(persona)
    return {
        "name": persona.name,
        "title": persona.title,
        "description": persona.description,
        "active": persona.is_active,
        "isolation": standing.isolation,
        "tier": standing.tier or None,
        "grants": [
            {
                "capability": row.capability,
                "reason": row.reason,
                "expires_at": row.expires_at,
                "conditions": row.conditions,
            }
            for row in persona.grants.all()
        ],
        "limits": limits_view(persona, PolicyBook([persona.pk], [], used=True)),
        "restrictions": [
            restriction_view(row) for row in restrictions_page({"persona": persona.name})[:PAGE]
        ],
    }
