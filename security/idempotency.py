"""Idempotency-Key of API requests that create something: sent again, they answer with what the first made.

Calls of tools and other requests that make runs keep their keys beside the run (execution).
"""

import hashlib
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import Any

import orjson
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from core.errors import InvalidRequest, ToolHubError
from core.json.canonical import CanonicalError, canonical
from core.openapi import PROBLEMS
from core.renderers import JSONRenderer
from core.submissions.models import Submission
from core.submissions.services import Result, submit_once
from security.principals import caller

HEADER, REPLAYED = "Idempotency-Key", "Idempotency-Replayed"
KEY_MAX = 255
_KEPT_HEADERS = ("Location", "ETag")
_KEY = OpenApiParameter(
    HEADER,
    {"type": "string", "minLength": 1, "maxLength": KEY_MAX},
    OpenApiParameter.HEADER,
    description="A key of your choice. For 24 hours the same request with the same key creates nothing more "
    f"and gets the first answer, with `{REPLAYED}: true`. Another request with it is refused (409 "
    "`IDEMPOTENCY_CONFLICT`). A refused request leaves its key unused.",
)

Post = Callable[..., Response]


def creates(described: Mapping[str, Any], *, shown_once: Collection[str] = ()) -> Callable[[Post], Post]:
    """Make an API view's method one that creates something: describe it, and honour Idempotency-Key.

    `described` are the arguments of `extend_schema`. `shown_once` names members of the answer that are
    secrets: they are not kept, and null in a repeated answer.
    """

    def decorate(method: Post) -> Post:
        @wraps(method)
        def post(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
            key = request.headers.get(HEADER)
            if key is None:
                return method(view, request, *args, **kwargs)
            return _once(request, key, lambda: method(view, request, *args, **kwargs), shown_once)

        post.creates = True  # type: ignore[attr-defined]
        made: Post = extend_schema(**_described(described, shown_once))(post)
        return made

    return decorate


def _described(described: Mapping[str, Any], shown_once: Collection[str]) -> dict[str, Any]:
    null = f" A repeated answer has null as {' and '.join(shown_once)}." if shown_once else ""
    more = {"description": f"{described.get('description', '')}{null}".strip()} if null else {}
    parameters = [*described.get("parameters", ()), _KEY]
    responses = {**described["responses"], 409: PROBLEMS[409]}
    return {**described, **more, "parameters": parameters, "responses": responses}


def _once(request: Request, key: str, act: Callable[[], Response], shown_once: Collection[str]) -> Response:
    """Answer by `act`, or as the first request with this key was answered.

    A key is the persona's own, together with the person responsible: what one may create and see, another
    may not. Raises ToolHubError for a bad key and for one of another request, and what `act` raises.
    """
    if not 1 <= len(key) <= KEY_MAX:
        message = f"{HEADER}: expected 1 to {KEY_MAX} characters; got {len(key)}."
        raise InvalidRequest(message, errors=[{"pointer": f"/{HEADER}", "message": message}])
    by, digest = caller(request), _digest(request)
    done = submit_once(
        owner=f"agent:{by.persona_id}:{by.responsible_id}",
        key=f"api:{hashlib.sha256(key.encode()).hexdigest()}",
        digest=digest,
        act=lambda: _result(act(), shown_once),
    )
    if not isinstance(done, Submission):
        return done
    if done.digest != digest:
        raise ToolHubError(
            f"This {HEADER} was used for another request, at {done.created_at:%Y-%m-%d %H:%M} UTC.",
            code="IDEMPOTENCY_CONFLICT",
        )
    kept = orjson.loads(done.answer)
    return Response(kept["body"], status=kept["status"], headers={**kept["headers"], REPLAYED: "true"})


def _result(response: Response, shown_once: Collection[str]) -> Result[Response]:
    body = orjson.loads(JSONRenderer().render(response.data))
    kept = {
        "status": response.status_code,
        "headers": {name: response[name] for name in _KEPT_HEADERS if name in response},
        "body": {**body, **dict.fromkeys(shown_once)},
    }
    return Result(response, response.get("Location", ""), answer=orjson.dumps(kept).decode())


def _digest(request: Request) -> str:
    """The SHA-256 of a request's method, address and body; JSON counts by its meaning."""
    body: Any = request.data
    try:
        sent = body if isinstance(body, bytes) else canonical(body)
    except CanonicalError as error:
        raise InvalidRequest(f"The request is not exact JSON: {error}") from error
    found = hashlib.sha256(canonical([request.method, request.get_full_path()]))
    found.update(sent)
    return found.hexdigest()
