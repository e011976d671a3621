"""REST for what personas see and hold: assignments and grants."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.edits import editing
from core.errors import NotFound
from core.etags import if_match, tagged
from core.keyset import page_after
from core.openapi import tagged_read, versioned
from registry.edits import ASSIGNMENT
from registry.models import Assignment
from registry.personas import openapi
from registry.personas.api import body_read, gone, grant_view, persona_managed, persona_seen
from registry.personas.selectors import assignable_find
from registry.policy.kept import grants_without, tools_kept
from registry.policy.named import time_read
from registry.services import assignment_create, assignment_delete
from security.acting import person_answering
from security.edits import GRANT
from security.idempotency import creates
from security.models import Grant, User
from security.policy.services import field_error
from security.principals import PersonaPrincipal, caller
from security.services import grant_change, grant_create, grant_revoke
from security.sharing.reach import about


def assignment_view(row: Assignment) -> dict[str, Any]:
    """As the API tells it."""
    return {
        "id": row.pk,
        "tool": row.tool.name if row.tool else None,
        "package": row.package.name if row.package else None,
        "collection": row.collection.name if row.collection else None,
        "by": row.assigned_by.get_username(),
        "created_at": row.created_at,
    }


class Assignments(APIView):
    """GET and POST personas/{name}/assignments."""

    @extend_schema(**openapi.ASSIGNMENTS)
    def get(self, request: Request, name: str) -> Response:
        by = caller(request)
        rows = persona_seen(by, name).assignments.order_by("-pk")
        if name != by.persona:
            rows = about(person_answering(by), rows, "registry.view_tool", tool="tool__name")
            rows = about(person_answering(by), rows, "registry.view_package", package="package__name")
            rows = about(
                person_answering(by), rows, "registry.view_collection", collection="collection__name"
            )
        found, more = page_after(
            rows.select_related("tool", "package", "collection", "assigned_by"), request.query_params
        )
        return Response({"assignments": [assignment_view(row) for row in found], "next": more})

    @creates(openapi.ASSIGNMENT_CREATE)
    def post(self, request: Request, name: str) -> Response:
        by = caller(request)
        persona = persona_managed(by, name, "registry.add_assignment")
        body = body_read("assignment", request.data)
        ((kind, text),) = body.items()
        named = text if kind == "tool" else f"{kind}:{text}"
        target = assignable_find(named, person_answering(by)) if "\0" not in text else None
        if target is None:
            raise field_error(
                kind, f"There is no {kind} {text[:64]!r}.{_meant(text, kind, person_answering(by))}"
            )
        made = assignment_create(by=by, persona=persona, **{kind: target})  # type: ignore[arg-type]
        return Response(assignment_view(made), status=201)


def _meant(text: str, kind: str, by: User) -> str:
    """What else has the name, as a sentence; empty where nothing has."""
    others = (other for other in ("tool", "package", "collection") if other != kind)
    for other in others if "\0" not in text else ():
        named = text if other == "tool" else f"{other}:{text}"
        if ":" not in text and assignable_find(named, by) is not None:
            return f' {text} is a {other}: send {{"{other}": "{text}"}}.'
    return ""


class AssignmentDetail(APIView):
    """DELETE personas/{name}/assignments/{id}."""

    @extend_schema(**versioned(openapi.ASSIGNMENT_DELETE))
    def delete(self, request: Request, name: str, pk: int) -> HttpResponse:
        by = caller(request)
        persona = persona_managed(by, name, "registry.delete_assignment")
        row = (
            persona.assignments.select_related("tool", "package", "collection", "persona")
            .filter(pk=pk)
            .first()
        )
        if row is None:
            raise NotFound(f"{name} has no assignment {pk}.")
        with editing(ASSIGNMENT.of(row), if_match(request)):
            assignment_delete(by=by, assignment=row)
        return gone()


class Grants(APIView):
    """GET and POST personas/{name}/grants."""

    @extend_schema(**openapi.GRANTS)
    def get(self, request: Request, name: str) -> Response:
        persona = persona_seen(caller(request), name)
        rows = grants_without(
            persona.grants.select_related("granted_by"), tools_kept(caller(request), persona)
        )
        found, more = page_after(rows, request.query_params)
        return Response({"grants": [grant_view(row) for row in found], "next": more})

    @creates(openapi.GRANT_CREATE)
    def post(self, request: Request, name: str) -> Response:
        by = caller(request)
        persona = persona_managed(by, name, "security.add_grant")
        body = body_read("grant", request.data)
        body["expires_at"] = time_read(body.get("expires_at"))
        return Response(grant_view(grant_create(by=by, persona=persona, **body)), status=201)


class GrantDetail(APIView):
    """GET, PATCH and DELETE personas/{name}/grants/{id}."""

    @extend_schema(**tagged_read(openapi.GRANT_READ))
    def get(self, request: Request, name: str, pk: int) -> Response:
        row = _grant(caller(request), name, pk, "security.view_persona")
        return tagged(Response(grant_view(row)), GRANT.of(row))

    @extend_schema(**versioned(openapi.GRANT_CHANGE))
    def patch(self, request: Request, name: str, pk: int) -> Response:
        by = caller(request)
        row = _grant(by, name, pk, "security.add_grant")
        body = body_read("grant_change", request.data)
        if "expires_at" in body:
            body["expires_at"] = time_read(body["expires_at"])
        with editing(GRANT.of(row), if_match(request), body):
            row = grant_change(by=by, grant=row, **body)
        return tagged(Response(grant_view(row)), GRANT.of(row))

    @extend_schema(**versioned(openapi.GRANT_REVOKE))
    def delete(self, request: Request, name: str, pk: int) -> HttpResponse:
        by = caller(request)
        row = _grant(by, name, pk, "security.delete_grant")
        with editing(GRANT.of(row), if_match(request)):
            grant_revoke(by=by, grant=row)
        return gone()


def _grant(by: PersonaPrincipal, name: str, pk: int, permission: str) -> Grant:
    rows = persona_managed(by, name, permission).grants.select_related("persona", "granted_by")
    found = rows.filter(pk=pk).first()
    if found is None:
        raise NotFound(f"{name} has no grant {pk}.")
    return found
