"""REST for personas' tokens: made, rotated and revoked. A text is told once and kept nowhere."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.edits import editing
from core.errors import NotFound
from core.etags import if_match
from core.keyset import page_after
from core.openapi import versioned
from registry.personas import openapi
from registry.personas.api import body_read, gone, persona_managed, persona_seen
from security.edits import TOKEN
from security.idempotency import creates
from security.models import Persona, Token
from security.principals import caller
from security.services import token_create, token_revoke, token_rotate


def token_view(row: Token) -> dict[str, Any]:
    """As the API tells it."""
    return {
        "id": row.pk,
        "name": row.name,
        "prefix": row.prefix,
        "state": row.state,
        "responsible": row.responsible.get_username(),
        "created_at": row.created_at,
        "expires_at": row.expires_at,
        "last_used_at": row.last_used_at,
        "revoked_at": row.revoked_at,
        "made_with": row.made_with.prefix if row.made_with else None,
    }


def _made(token: Token, text: str) -> Response:
    """The one answer with a token's text; nothing between here and the caller may keep it."""
    return Response({**token_view(token), "token": text}, status=201, headers={"Cache-Control": "no-store"})


def _token(persona: Persona, pk: int) -> Token:
    row = persona.tokens.select_related("persona", "responsible", "made_with").filter(pk=pk).first()
    if row is None:
        raise NotFound(f"{persona.name} has no token {pk}.")
    return row


class Tokens(APIView):
    """GET and POST personas/{name}/tokens."""

    @extend_schema(**openapi.TOKENS)
    def get(self, request: Request, name: str) -> Response:
        rows = (
            persona_seen(caller(request), name)
            .tokens.select_related("responsible", "made_with")
            .order_by("-pk")
        )
        found, more = page_after(rows, request.query_params)
        return Response({"tokens": [token_view(row) for row in found], "next": more})

    @creates(openapi.TOKEN_CREATE, shown_once=("token",))
    def post(self, request: Request, name: str) -> Response:
        by = caller(request)
        persona = persona_managed(by, name, "security.add_token")
        return _made(*token_create(by=by, persona=persona, **body_read("token", request.data)))


class TokenDetail(APIView):
    """DELETE personas/{name}/tokens/{id}."""

    @extend_schema(**versioned(openapi.TOKEN_REVOKE))
    def delete(self, request: Request, name: str, pk: int) -> HttpResponse:
        by = caller(request)
        token = _token(persona_managed(by, name, "security.delete_token"), pk)
        with editing(TOKEN.of(token), if_match(request)):
            token_revoke(by=by, token=token)
        return gone()


class TokenRotate(APIView):
    """POST personas/{name}/tokens/{id}/rotate."""

    @creates(openapi.TOKEN_ROTATE, shown_once=("token",))
    def post(self, request: Request, name: str, pk: int) -> Response:
        by = caller(request)
        token = _token(persona_managed(by, name, "security.add_token"), pk)
        return _made(*token_rotate(by=by, token=token, **body_read("token_rotate", request.data)))
