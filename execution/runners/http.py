"""The runtime http: a call is one request to a server, by the hub's guarded client.

The request is made in this process, so it needs no sandbox; what comes back passes the same strict parser and
bounds as any result. `Idempotency-Key` is the run's id, for servers that know it.
"""

import time
from datetime import UTC, datetime

from core.errors import error_object
from core.http.errors import HttpFailed, HttpRefused
from core.http.urls import Url, url_read
from execution.engine.call import Call, unsaid
from execution.engine.outcomes import Outcome
from execution.models import Status
from execution.runners.apart import run_apart
from execution.runners.defaults import arguments_of
from execution.runners.judging import ended, given, timeout_error, tool_error
from execution.runners.traits import HubRunner
from toolhub_sdk import ToolError
from toolhub_sdk.package import CONTRACT
from toolhub_sdk.runtimes import http as sdk
from toolhub_sdk.runtimes.http.exchange import WebRequest, web_request, web_result

# Methods whose repetition a server may notice; RFC 9110 has the others idempotent.
REPEATABLE = frozenset({"GET", "PUT", "DELETE"})


class Http(HubRunner):
    name = sdk.Http.name
    can_look = False

    def run(self, call: Call) -> Outcome:
        """Sends the request and waits for the answer, which can be left behind."""
        return run_apart(call, _work)


RUNTIME = Http()


def _work(call: Call) -> Outcome:
    started_at, begun = datetime.now(UTC), time.perf_counter()
    try:
        data = _answer(call)
    except ToolError as error:
        spent = _ms(begun)
        if call.seconds_left() <= 0:
            return ended(Status.TIMEOUT, timeout_error(call), started_at=started_at, duration_ms=spent)
        return ended(Status.FAILED, tool_error(call, error), started_at=started_at, duration_ms=spent)
    except HttpRefused as error:
        host = call.version.entry.partition("://")[2].partition("/")[0][:300]
        refused = error_object(
            "ADDRESS_REFUSED", f"The server's address {host} {error}.", details={"host": host}
        )
        return ended(Status.FAILED, refused, started_at=started_at, duration_ms=_ms(begun))
    return given(call, data, started_at=started_at, duration_ms=_ms(begun))


def _answer(call: Call) -> object:
    """The result that the server gives. Raises ToolError and HttpRefused."""
    from core.http.client import http_send  # noqa: PLC0415 - 8 MB, only where such a tool is called

    operation = call.version.definition["_meta"][CONTRACT]["http"]
    request = web_request(
        call.version.entry, operation, arguments_of(call), {**call.settings.values, **call.settings.secrets}
    )
    try:
        reply = http_send(
            request.method,
            _url(request),
            headers=_headers(call, request),
            body=request.body,
            seconds=max(call.seconds_left(), 0.001),
            most_bytes=call.max_output_bytes,
        )
    except HttpFailed as error:
        raise ToolError("NETWORK", f"The server gave no answer: {error}.", retryable=error.unsent) from error
    if not reply.complete:
        message = f"The server's answer has more than {call.max_output_bytes} bytes."
        raise ToolError("RESOURCE_EXCEEDED", message, recoverable=False)
    body = reply.body
    if reply.status >= 300:  # of which the beginning is told
        body = str(unsaid(call, body.decode(errors="replace"))).encode()
    return web_result(reply.status, reply.headers, body)


def _url(request: WebRequest) -> Url:
    return url_read(request.url)


def _headers(call: Call, request: WebRequest) -> dict[str, str]:
    own = {"User-Agent": "ToolHub", "X-Request-Id": str(call.run_id)}
    if request.method not in REPEATABLE:
        own["Idempotency-Key"] = str(call.run_id)
    return {**request.headers, **own}


def _ms(begun: float) -> float:
    return round((time.perf_counter() - begun) * 1000, 3)
