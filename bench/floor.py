"""Floor A: what any Django project would write. A DRF view, token authentication, one INSERT.

DRF's own parser, renderer and TokenAuthentication, which asks one query for token and person, behind
the middleware that `startproject` writes down; the hub's own API ends before its pages' middleware.
"""

import hashlib
import json
import time
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.module_loading import import_string
from django.views.decorators.csrf import csrf_exempt
from rest_framework.authentication import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.parsers import JSONParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from bench.models import FloorCall
from security.models import Token, User
from security.tokens import token_digest

# Django 5.2's startproject, without SecurityMiddleware, which every address of the hub has already.
MIDDLEWARE = (
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
)


class FloorAuthentication(TokenAuthentication):
    """DRF's, on the hub's table of tokens."""

    keyword = "Bearer"

    def authenticate_credentials(self, key: str) -> tuple[User, Token]:
        token = Token.objects.select_related("responsible").filter(digest=token_digest(key)).first()
        if token is None or not token.responsible.is_active or token.state != "valid":
            raise AuthenticationFailed("Invalid token.")
        return token.responsible, token


class Floor(APIView):
    """Answers with the text that it got, after one row."""

    authentication_classes = [FloorAuthentication]
    permission_classes = [IsAuthenticated]
    parser_classes = [JSONParser]
    renderer_classes = [JSONRenderer]

    def post(self, request: Request) -> Response:
        begun, created_at = time.perf_counter(), timezone.now()
        result: dict[str, Any] = {"text": request.data["arguments"]["text"]}
        arguments, text = json.dumps(request.data["arguments"]), json.dumps(result)
        token: Any = request.auth
        call = FloorCall(
            persona_id=token.persona_id,
            tool="echo",
            status="completed",
            arguments=arguments,
            arguments_hash=hashlib.sha256(arguments.encode()).digest(),
            result=text,
            result_hash=hashlib.sha256(text.encode()).digest(),
            created_at=created_at,
            completed_at=timezone.now(),
            duration_ms=(time.perf_counter() - begun) * 1000,
        )
        call.save(force_insert=True)
        return Response({"success": True, "data": result, "id": str(call.pk)})


def _rendered(request: HttpRequest) -> HttpResponse:
    response: Any = Floor.as_view()(request)
    return response.render()  # type: ignore[no-any-return]


def _chain() -> Any:
    handler: Any = _rendered
    for path in reversed(MIDDLEWARE):
        handler = import_string(path)(handler)
    return handler


floor = csrf_exempt(_chain())
# For a server that has no middleware either (bench/wsgi.py).
bare = csrf_exempt(_rendered)
