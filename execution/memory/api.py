"""REST for memory and sessions: always the calling persona's own."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.edits import editing
from core.errors import Conflict, InvalidRequest, NotFound
from core.etags import if_match, tagged
from core.keyset import page_after
from core.openapi import tagged_read, versioned
from execution.engine.events import iso
from execution.engine.places import DEFAULT, Place
from execution.memory import openapi
from execution.memory.edits import MEMORY_ITEM
from execution.memory.models import Item, Session
from execution.memory.selectors import (
    item_get,
    items_list,
    session_get,
    session_over,
    sessions_of,
    space_view,
    spaces_of,
)
from execution.memory.services import loop_end, memory_delete, memory_put, session_end
from registry.bodies import body_check
from registry.schemas import validator_build
from security.principals import caller

PAGE = 100
ID_MAX = 128
_PUT = validator_build(openapi.PUT)


def _place(request: Request) -> Place:
    """Whose memory is meant, by the query. Raises InvalidRequest."""
    named = [request.query_params.get(name, DEFAULT) for name in ("session_id", "loop_id")]
    for name, value in zip(("session_id", "loop_id"), named, strict=True):
        _id_check(name, value)
    return Place(caller(request).persona_id, *named)


def _id_check(name: str, value: str) -> None:
    if not 1 <= len(value) <= ID_MAX or "\0" in value:
        message = f"{name} has 1 to {ID_MAX} characters."
        raise InvalidRequest(message, errors=[{"pointer": f"/{name}", "message": message}])


def _key_view(item: Item, scope: str) -> dict[str, Any]:
    return {"scope": scope, "key": item.key, "bytes": item.size, "updated_at": iso(item.updated_at)}


def _session_view(session: Session) -> dict[str, Any]:
    times = {"created_at": iso(session.created_at), "last_at": iso(session.last_at)}
    return {"session_id": session.name, **times}


class MemoryKeys(APIView):
    """GET memory/{scope}."""

    @extend_schema(
        operation_id="memory_list",
        summary="List the keys of a scope of memory",
        parameters=openapi.PLACE,
        responses=openapi.said(openapi.KEYS, "Without the values.", 401, 422),
    )
    def get(self, request: Request, scope: str) -> Response:
        keys = [_key_view(item, scope) for item in items_list(_place(request), scope)]
        return Response({"keys": keys})


class MemoryItem(APIView):
    """GET, PUT and DELETE memory/{scope}/{key}."""

    @extend_schema(**tagged_read(openapi.ITEM_READ))
    def get(self, request: Request, scope: str, key: str) -> Response:
        return _item(_place(request), scope, key)

    @extend_schema(**versioned(openapi.ITEM_WRITE))
    def put(self, request: Request, scope: str, key: str) -> Response:
        body: Any = request.data
        body_check(_PUT, body)
        place = _place(request)
        with _editing(request, place, scope, key, body):
            memory_put(by=caller(request).actor, place=place, scope=scope, key=key, value=body["value"])
        return _item(place, scope, key)

    @extend_schema(**versioned(openapi.ITEM_DELETE))
    def delete(self, request: Request, scope: str, key: str) -> Response:
        place = _place(request)
        with _editing(request, place, scope, key, {}):
            memory_delete(by=caller(request).actor, place=place, scope=scope, key=key)
        return Response(status=204)


def _item(place: Place, scope: str, key: str) -> Response:
    item = item_get(place, scope, key)
    return tagged(Response({**_key_view(item, scope), "value": item.value}), MEMORY_ITEM.of(item))


def _editing(
    request: Request, place: Place, scope: str, key: str, yours: Mapping[str, Any]
) -> AbstractContextManager[None]:
    """Holds the value where the caller names a version of it: there has to be one."""
    expected = if_match(request)
    if expected is None:
        return nullcontext()
    try:
        item = item_get(place, scope, key)
    except NotFound as error:
        raise Conflict(error.message, code="STALE_EDIT") from error
    return editing(MEMORY_ITEM.of(item), expected, yours)


class Sessions(APIView):
    """GET sessions."""

    @extend_schema(
        operation_id="sessions_list",
        summary="List the persona's sessions",
        parameters=[openapi.AFTER],
        responses=openapi.said(openapi.SESSIONS, "By name, at most 100.", 401, 422),
    )
    def get(self, request: Request) -> Response:
        mine = sessions_of(caller(request).persona_id)
        rows, more = page_after(mine, request.query_params, key="name", descending=False)
        return Response({"sessions": [_session_view(row) for row in rows], "next": more})


class SessionDetail(APIView):
    """GET and DELETE sessions/{session_id}."""

    @extend_schema(
        operation_id="session_get",
        summary="Read a session",
        responses=openapi.said(openapi.SESSION, "What it remembers, by scope.", 401, 404, 422),
    )
    def get(self, request: Request, session_id: str) -> Response:
        persona_id = caller(request).persona_id
        _id_check("session_id", session_id)
        session = session_get(persona_id, session_id)
        memory = [space_view(space) for space in spaces_of(persona_id, session_id)]
        return Response({**_session_view(session), "over": session_over(session), "memory": memory})

    @extend_schema(
        operation_id="session_end",
        summary="End a session: its working and short-term memory is removed",
        responses=openapi.said(None, "It is over.", 401, 422, 503, status=204),
    )
    def delete(self, request: Request, session_id: str) -> Response:
        _id_check("session_id", session_id)
        session_end(by=caller(request).actor, place=Place(caller(request).persona_id, session_id))
        return Response(status=204)


class LoopDetail(APIView):
    """DELETE sessions/{session_id}/loops/{loop_id}."""

    @extend_schema(
        operation_id="loop_end",
        summary="End a loop: its working memory is removed",
        responses=openapi.said(None, "It is over.", 401, 422, 503, status=204),
    )
    def delete(self, request: Request, session_id: str, loop_id: str) -> Response:
        _id_check("session_id", session_id)
        _id_check("loop_id", loop_id)
        loop_end(by=caller(request).actor, place=Place(caller(request).persona_id, session_id, loop_id))
        return Response(status=204)
