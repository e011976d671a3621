"""The door: a request whose headers are there is answered here, read whole, or handed to a thread."""

import functools
import logging
from collections.abc import Callable
from io import BytesIO
from typing import IO

from core.clock import uuid7
from core.errors import ToolHubError
from core.middleware import body_max
from core.parsers import too_large
from core.problems import problem
from core.proxies import caller_address
from toolhub.entrance.answers import Application, answer
from toolhub.entrance.bodies import Bodies, Body
from toolhub.entrance.environ import address_of, environ_make
from toolhub.entrance.granian import Arrival, Exchange, Headers, Scope
from toolhub.entrance.threads import WorkThreads

log = logging.getLogger(__name__)
# Answered without a work thread, so also while all of them are busy.
LIVENESS = frozenset({"/livez", "/healthz"})
_LIVE: Headers = [("Content-Type", "text/plain"), ("Cache-Control", "no-store")]


class Door:
    """Takes requests from granian's one Python thread, so nothing here may wait."""

    def __init__(self, application: Application, threads: int) -> None:
        self._application = application
        self._threads = WorkThreads(threads)
        self._bodies = Bodies()

    def take(self, arrival: Arrival) -> None:
        """Take a request. Never raises: granian does not look for an error."""
        exchange = arrival.proto
        try:
            self._take(arrival.scope, exchange)
        except ToolHubError as error:
            refuse(exchange, error)
        except BaseException:
            log.exception("a request could not be taken")
            exchange.response_bytes(500, [], b"")

    def _take(self, scope: Scope, exchange: Exchange) -> None:
        headers = scope.headers.items()
        length: int | None = 0
        for name, value in headers:
            if name == "content-length":
                length = int(value)
            elif name == "transfer-encoding":
                length = None
                break
        if length == 0:
            if scope.path in LIVENESS and scope.method in {"GET", "HEAD"}:
                exchange.response_bytes(200, _LIVE, b"ok\n")
            else:
                self._work(scope, headers, exchange, BytesIO(), 0)
            return
        most = body_max(scope.path)
        if length is not None and length > most:
            raise too_large(most)
        done: Callable[[IO[bytes], int], None] = functools.partial(self._work, scope, headers, exchange)
        whose = functools.partial(senders, scope, headers)
        self._bodies.begin(Body(exchange, length, most, whose, done, functools.partial(refuse, exchange)))

    def _work(self, scope: Scope, headers: Headers, exchange: Exchange, body: IO[bytes], length: int) -> None:
        environ = environ_make(scope, headers, body, length)
        self._threads.submit(functools.partial(answer, self._application, environ, exchange))


def senders(scope: Scope, headers: Headers) -> tuple[str, ...]:
    """Whom a body counts for: its address, and its token if it has one."""
    chain = ",".join(value for name, value in headers if name == "x-forwarded-for")
    tokens = (value for name, value in headers if name == "authorization")
    return (caller_address(address_of(scope), chain), *tokens)


def refuse(exchange: Exchange, error: ToolHubError) -> None:
    """Answer with a problem and close the connection, because the rest of a body may still come."""
    response = problem(error)
    mark = uuid7().hex
    log.info("refused at the entrance (%s): %s", mark, error.code)
    headers = [*response.items(), ("Connection", "close"), ("X-Request-ID", mark)]
    exchange.response_bytes(response.status_code, headers, response.content)
