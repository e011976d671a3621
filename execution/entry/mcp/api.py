"""`/mcp` and `/mcp/{collection}`: one POST is one message and its answer (Streamable HTTP, no stream)."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework.exceptions import NotAuthenticated

from core.errors import ToolHubError
from core.parsers import BODY_MAX
from core.problems import drf_exception_handler
from execution.entry.mcp.door import Door
from registry.collections.selectors import collection_missing, sight_of
from security.authentication import principal_read

METHOD = "POST"


@csrf_exempt
def mcp(request: HttpRequest, collection: str = "") -> HttpResponse:
    """Answers an MCP client. Who may not ask gets a problem (RFC 9457), who may an answer of JSON-RPC 2.0."""
    try:
        return _answered(request, collection)
    except Exception as error:  # noqa: BLE001 - each leaves as a problem, as from the API
        return drf_exception_handler(error, {"view": mcp})


def _answered(request: HttpRequest, collection: str) -> HttpResponse:
    _origin_check(request)
    if request.method != METHOD:
        # There is no stream to listen to, and no session to end.
        response = drf_exception_handler(
            ToolHubError("An MCP client sends POST here.", code="METHOD_NOT_ALLOWED"), {}
        )
        response["Allow"] = METHOD
        return response
    principal = principal_read(request.META.get("HTTP_AUTHORIZATION", ""))
    if principal is None:
        raise NotAuthenticated
    if collection and not sight_of(principal.persona_id).collections.filter(name=collection).exists():
        raise collection_missing(collection)
    # The official types and checks take 46 MB of a process and a second; who has no MCP client needs neither.
    from execution.entry.mcp.messages import message_answer  # noqa: PLC0415

    return message_answer(Door(principal, collection, request.headers), request.read(BODY_MAX + 1))


def _origin_check(request: HttpRequest) -> None:
    """Refuses a page of somebody else in a browser, as the protocol asks of servers."""
    origin = request.META.get("HTTP_ORIGIN")
    if origin is None or origin in settings.CSRF_TRUSTED_ORIGINS:
        return
    if origin not in {f"{scheme}://{request.get_host()}" for scheme in ("http", "https")}:
        raise ToolHubError(
            "A page of another site may not ask this hub.",
            code="PERMISSION_DENIED",
            suggestions=["Use a client outside a browser, or serve the page under the hub's own address."],
        )
