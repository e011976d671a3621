"""Django's WSGI handler, with a shorter way around calls of tools."""

from collections.abc import Callable
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.db import close_old_connections

from core.lanes import LANE, is_mcp, lane_of

START, END = "/api/v1/tools/", "/execute"


class Handler(WSGIHandler):
    """A call by REST, and each MCP message, passes the same middleware to its view, without Django's signals.

    Of what hangs on those, calls need one thing: that connections go back to the pool. The rest (caches, the
    log of queries, the addresses' module of a request) is for pages, and took a tenth of a call.
    """

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        """The answer's parts."""
        LANE.set(lane_of(environ.get("PATH_INFO", "")))
        if not _is_call(environ):
            return super().__call__(environ, start_response)
        request = self.request_class(environ)
        try:
            response: Any = self.get_response(request)
            head = f"{response.status_code} {response.reason_phrase}"
            start_response(head, [*response.items()])
            return [response.content]  # a list goes out at once, an iterator part by part
        finally:
            request.close()
            close_old_connections()


def _is_call(environ: dict[str, Any]) -> bool:
    path = environ.get("PATH_INFO", "")
    is_path = (path.startswith(START) and path.endswith(END)) or is_mcp(path)
    return bool(is_path and environ["REQUEST_METHOD"] == "POST" and not environ.get("SCRIPT_NAME"))
