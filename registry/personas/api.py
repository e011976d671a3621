"""REST for personas."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.edits import editing
from core.etags import if_match, tagged
from core.keyset import PAGE, page_after
from core.openapi import tagged_read, versioned
from registry.bodies import body_check
from registry.personas import openapi
from registry.personas.selectors import VIEW, persona_detail, personas_page
from registry.policy.api import restriction_view
from registry.policy.kept import grants_without, tools_kept
from registry.policy.limits_view import limits_view
from registry.policy.named import tier_named
from security.acting import PERSONAS, acting, reading
from security.edits import PERSONA
from security.idempotency import creates
from security.loosening import setters_view
from security.models import Grant, Persona
from security.policy.selectors import PolicyBook, standing_of
from security.policy.services import isolation_set
from security.policy.tiers import tier_set
from security.principals import PersonaPrincipal, caller
from security.services import persona_create, persona_describe, persona_switch


def body_read(form: str, body: Any) -> dict[str, Any]:
    """The body, which fits its form. Raises ToolHubError (422) with pointers."""
    body_check(openapi.VALIDATORS[form], body)
    return dict(body)


def persona_seen(by: PersonaPrincipal, name: str) -> Persona:
    """The persona; an agent sees its own freely. Raises Denied, NotFound."""
    if name == by.persona:
        return Persona.objects.select_related("standing__tier").get(pk=by.persona_id)
    return persona_detail(name, reading(by, VIEW, PERSONAS))


def persona_managed(by: PersonaPrincipal, name: str, permission: str) -> Persona:
    """The persona, for whoever may do what the permission names: others hear of none. Raises as above."""
    return persona_detail(name, reading(by, permission, PERSONAS), permission)


def grant_view(row: Grant) -> dict[str, Any]:
    """As the API tells it."""
    return {
        "id": row.pk,
        "capability": row.capability,
        "reason": row.reason,
        "expires_at": row.expires_at,
        "conditions": row.conditions,
        "by": row.granted_by.get_username(),
        "created_at": row.created_at,
        "changed_at": row.changed_at,
    }


def persona_short(persona: Persona) -> dict[str, Any]:
    """As a list tells it."""
    standing = standing_of(persona)
    return {
        "name": persona.name,
        "title": persona.title,
        "description": persona.description,
        "active": persona.is_active,
        "isolation": standing.isolation,
        "tier": standing.tier or None,
    }


def persona_view(by: PersonaPrincipal, persona: Persona) -> dict[str, Any]:
    """A persona with all that its calls are decided by, but for tools that are kept from who asks."""
    book = PolicyBook([persona.pk], [], used=True)
    named = persona.restrictions.values_list("tool", flat=True)
    kept = tools_kept(by, persona, {*book.tools, *named})
    grants = grants_without(persona.grants.select_related("granted_by"), kept)
    restrictions = persona.restrictions.exclude(tool__in=kept).select_related("persona", "created_by")
    return {
        **persona_short(persona),
        "set_by": setters_view(("persona", str(persona.pk)), "persona", "standing"),
        "grants": [grant_view(row) for row in grants],
        "limits": limits_view(persona, book, kept),
        "restrictions": [restriction_view(row) for row in restrictions.order_by("-pk")[:PAGE]],
    }


class Personas(APIView):
    """GET and POST personas."""

    @extend_schema(**openapi.PERSONAS_LIST)
    def get(self, request: Request) -> Response:
        by = reading(caller(request), VIEW, PERSONAS)
        rows = personas_page({"q": request.query_params.get("q", "")}, by)
        found, more = page_after(rows.select_related("standing__tier"), request.query_params)
        return Response({"personas": [persona_short(row) for row in found], "next": more})

    @creates(openapi.PERSONA_CREATE)
    def post(self, request: Request) -> Response:
        by = caller(request)
        acting(by, "security.add_persona", PERSONAS)
        made = persona_create(by=by, **body_read("persona", request.data))
        return Response(persona_view(by, made), status=201)


class PersonaDetail(APIView):
    """GET and PATCH personas/{name}."""

    @extend_schema(**tagged_read(openapi.PERSONA_READ))
    def get(self, request: Request, name: str) -> Response:
        return _persona(caller(request), name)

    @extend_schema(**versioned(openapi.PERSONA_CHANGE))
    def patch(self, request: Request, name: str) -> Response:
        by = caller(request)
        persona = persona_seen(by, name)
        wanted = body_read("persona_change", request.data)
        tier = tier_named(wanted.get("tier") or "")
        texts = {key: wanted[key] for key in ("title", "description") if key in wanted}
        with editing(PERSONA.of(persona), if_match(request), wanted):
            if texts:
                persona_describe(by=by, persona=persona, **texts)
            if "active" in wanted:
                persona_switch(by=by, persona=persona, on=wanted["active"])
            if "isolation" in wanted:
                isolation_set(by=by, persona=persona, isolation=wanted["isolation"])
            if "tier" in wanted:
                tier_set(by=by, persona=persona, tier=tier)
        return _persona(by, name)


def _persona(by: PersonaPrincipal, name: str) -> Response:
    persona = persona_seen(by, name)
    return tagged(Response(persona_view(by, persona)), PERSONA.of(persona))


def gone() -> HttpResponse:
    """The answer where there is nothing left to tell of."""
    return HttpResponse(status=204)
