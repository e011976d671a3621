"""REST for collections: agents read what they see; those that manage personas change them."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.edits import editing
from core.errors import Denied, NotFound
from core.etags import if_match, tagged
from core.keyset import page_after
from core.openapi import tagged_read, versioned
from registry.bodies import body_check
from registry.collections import openapi
from registry.collections.models import Collection
from registry.collections.selectors import (
    ASSIGN,
    VIEW,
    Sight,
    collection_detail,
    collection_missing,
    members_seen,
    sight_of,
    sight_with,
    tools_meant,
)
from registry.collections.services import (
    ADD,
    CHANGE,
    DELETE,
    collection_create,
    collection_delete,
    collection_describe,
    members_change,
)
from registry.edits import COLLECTION
from security.acting import PERSONAS, acting, person_answering, reading
from security.idempotency import creates
from security.principals import PersonaPrincipal, caller


def _sight(by: PersonaPrincipal) -> Sight:
    """What the caller sees: an agent that manages personas what its person sees, too."""
    try:
        person = reading(by, VIEW, PERSONAS)
    except Denied:
        return sight_of(by.persona_id)
    return sight_with(by.persona_id, person)


def _short(row: Collection) -> dict[str, Any]:
    return {"name": row.name, "description": row.description, "created_at": row.created_at}


def _whole(by: PersonaPrincipal, row: Collection) -> dict[str, Any]:
    return {**_short(row), "tools": _sight(by).members(row)}


def _answer(by: PersonaPrincipal, row: Collection) -> Response:
    return tagged(Response(_whole(by, row)), COLLECTION.of(row))


def _seen(by: PersonaPrincipal, name: str) -> Collection:
    row = _sight(by).collections.filter(name=name).first() if "\0" not in name else None
    if row is None:
        raise collection_missing(name)
    return row


def _managed(by: PersonaPrincipal, name: str, permission: str) -> Collection:
    """The collection, for whoever may do what the permission names: others hear of none."""
    return collection_detail(name, reading(by, permission, PERSONAS), permission)


def _body(form: str, body: Any) -> dict[str, Any]:
    body_check(openapi.VALIDATORS[form], body)
    return dict(body)


class Collections(APIView):
    """GET and POST collections."""

    @extend_schema(**openapi.LIST)
    def get(self, request: Request) -> Response:
        rows, more = page_after(_sight(caller(request)).with_counts(), request.query_params)
        told = [{**_short(row), "tool_count": getattr(row, "tool_count", None) or 0} for row in rows]
        return Response({"collections": told, "next": more})

    @creates(openapi.CREATE)
    def post(self, request: Request) -> Response:
        by = caller(request)
        acting(by, ADD, PERSONAS)
        body = _body("collection", request.data)
        body["tools"] = tools_meant(body.get("tools", ()), person_answering(by), ASSIGN)
        made = collection_create(by=by, **body)
        return Response(_whole(by, made), status=201)


class CollectionDetail(APIView):
    """GET, PATCH and DELETE collections/{name}."""

    @extend_schema(**tagged_read(openapi.READ))
    def get(self, request: Request, name: str) -> Response:
        by = caller(request)
        return _answer(by, _seen(by, name))

    @extend_schema(**versioned(openapi.CHANGE))
    def patch(self, request: Request, name: str) -> Response:
        by = caller(request)
        row = _managed(by, name, CHANGE)
        wanted = _body("collection_change", request.data)
        shown = {"tools": _whole(by, row)["tools"]} if "tools" in wanted else {}
        with editing(COLLECTION.of(row), if_match(request), wanted, shown):
            if "description" in wanted:
                collection_describe(by=by, collection=row, description=wanted["description"])
            if "tools" in wanted:
                self._set(by, row, wanted["tools"])
        row.refresh_from_db()
        return _answer(by, row)

    @extend_schema(**versioned(openapi.DELETE))
    def delete(self, request: Request, name: str) -> HttpResponse:
        by = caller(request)
        row = _managed(by, name, DELETE)
        with editing(COLLECTION.of(row), if_match(request)):
            collection_delete(by=by, collection=row)
        return HttpResponse(status=204)

    def _set(self, by: PersonaPrincipal, row: Collection, names: list[str]) -> None:
        """What is a member already needs no right to be one; who does not see a member does not take it."""
        held = {tool.name: tool for tool in members_seen(row, person_answering(by))}
        new = tools_meant([name for name in names if name not in held], person_answering(by), ASSIGN)
        gone = [tool for name, tool in held.items() if name not in names]
        members_change(by=by, collection=row, add=new, remove=gone)


class CollectionTool(APIView):
    """PUT and DELETE collections/{name}/tools/{tool}."""

    @extend_schema(**versioned(openapi.ADD))
    def put(self, request: Request, name: str, tool: str) -> Response:
        by = caller(request)
        row = _managed(by, name, CHANGE)
        added = tools_meant([tool], person_answering(by), ASSIGN, "tool")
        with editing(COLLECTION.of(row), if_match(request)):
            members_change(by=by, collection=row, add=added)
        return _answer(by, row)

    @extend_schema(**versioned(openapi.REMOVE))
    def delete(self, request: Request, name: str, tool: str) -> HttpResponse:
        by = caller(request)
        row = _managed(by, name, CHANGE)
        found = (
            members_seen(row, person_answering(by)).filter(name=tool).first() if "\0" not in tool else None
        )
        if found is None:
            raise NotFound(f"{name} has no tool {tool[:64]!r}.")
        with editing(COLLECTION.of(row), if_match(request)):
            members_change(by=by, collection=row, remove=[found])
        return HttpResponse(status=204)
