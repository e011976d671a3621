"""Answers of the WSGI application, given to the connection."""

import logging
from collections.abc import Callable, Iterable
from typing import Any

from toolhub.entrance.granian import Exchange, Headers

log = logging.getLogger(__name__)
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def answer(application: Application, environ: dict[str, Any], exchange: Exchange) -> None:
    """Serve one request: the application's answer, or 500."""
    status, headers = 500, list[tuple[str, str]]()

    def start(line: str, given: Headers, _error: Any = None) -> None:
        nonlocal status, headers
        status, headers = int(line[:3]), given

    try:
        parts = application(environ, start)
    except Exception:
        log.exception("the application failed")
        exchange.response_bytes(500, [], b"")
        return
    finally:
        environ["wsgi.input"].close()
    if isinstance(parts, list):
        exchange.response_bytes(status, headers, b"".join(parts))
        return
    try:
        if getattr(parts, "streaming", True):
            _stream(exchange, status, headers, parts)
        else:
            exchange.response_bytes(status, headers, b"".join(parts))
    finally:
        close = getattr(parts, "close", None)
        if close is not None:
            close()


def _stream(exchange: Exchange, status: int, headers: Headers, parts: Iterable[bytes]) -> None:
    """Send part by part until the application ends or the client is gone."""
    stream = exchange.response_stream(status, headers)
    try:
        for part in parts:
            for _ in stream.send_bytes(part):
                pass
    except RuntimeError:
        log.debug("the client is gone", exc_info=True)
