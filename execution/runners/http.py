"""The runtime http: a call is one request to a server, by the hub's guarded client.

The request is made in this process, so it needs no sandbox. What comes back is kept as far as it can be read
(toolhub_sdk/runtimes/http/answers.py), within the same bounds as any result. `Idempotency-Key` is the run's
id, for servers that know it.
"""

import dataclasses
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

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
from execution.side_effects import SideEffect
from toolhub_sdk import ToolError
from toolhub_sdk.package import CONTRACT
from toolhub_sdk.runtimes import http as sdk
from toolhub_sdk.runtimes.http.answers import Answer, answer_shown, web_result
from toolhub_sdk.runtimes.http.exchange import WebRequest, web_request

if TYPE_CHECKING:
    from core.http.client import Reply

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

    def stopped(error: dict[str, Any], side_effect: SideEffect, status: Status = Status.FAILED) -> Outcome:
        return ended(status, error, started_at=started_at, duration_ms=_ms(begun), side_effect=side_effect)

    try:
        request = _request(call)
    except ToolError as error:
        return stopped(tool_error(call, error), SideEffect.NONE)
    try:
        reply = _sent(call, request)
    except HttpRefused as error:
        host = call.version.entry.partition("://")[2].partition("/")[0][:300]
        refused = error_object(
            "ADDRESS_REFUSED", f"The server's address {host} {error}.", details={"host": host}
        )
        return stopped(refused, SideEffect.NONE)
    except HttpFailed as error:
        if call.seconds_left() <= 0:
            return stopped(timeout_error(call), _effect(error), Status.TIMEOUT)
        failed = ToolError("NETWORK", f"The server gave no answer: {error}.", retryable=error.unsent)
        return stopped(tool_error(call, failed), _effect(error))
    try:
        answer = _read(call, reply)
    except ToolError as error:
        return stopped(tool_error(call, error), SideEffect.DONE)
    made = given(call, answer.data, started_at=started_at, duration_ms=_ms(begun))
    if made.error is not None:
        details = {**made.error["details"], "answer": _shown(call, reply)}
        return dataclasses.replace(made, error={**made.error, "details": details})
    notes = (f"The server's answer was mended: {'; '.join(answer.notes)}.",) if answer.notes else ()
    return dataclasses.replace(made, warnings=(*made.warnings, *notes))


def _effect(error: HttpFailed) -> SideEffect:
    """Without a byte sent nothing happened; with an answer it is over; between, nobody here knows."""
    if error.unsent:
        return SideEffect.NONE
    return SideEffect.DONE if error.answered else SideEffect.POSSIBLE


def _request(call: Call) -> WebRequest:
    """The request that a call means. Raises ToolError for arguments and settings that have no place in it."""
    operation = call.version.definition["_meta"][CONTRACT]["http"]
    settings = {**call.settings.values, **call.settings.secrets}
    return web_request(call.version.entry, operation, arguments_of(call), settings)


def _sent(call: Call, request: WebRequest) -> "Reply":
    """The answer, whatever it says. Raises HttpRefused and HttpFailed."""
    from core.http.client import http_send  # noqa: PLC0415 - 8 MB, only where such a tool is called

    return http_send(
        request.method,
        _url(request),
        headers=_headers(call, request),
        body=request.body,
        seconds=max(call.seconds_left(), 0.001),
        most_bytes=call.max_output_bytes,
    )


def _read(call: Call, reply: "Reply") -> Answer:
    """What the answer says. Raises ToolError."""
    if not reply.complete:
        raise ToolError(
            "RESOURCE_EXCEEDED",
            f"The server's answer has more than {call.max_output_bytes} bytes.",
            recoverable=False,
            details={"answer": _shown(call, reply)},
        )
    return web_result(reply.status, reply.headers, reply.body, lambda text: str(unsaid(call, text)))


def _shown(call: Call, reply: "Reply") -> str:
    return answer_shown(reply.headers, reply.body, lambda text: str(unsaid(call, text)))


def _url(request: WebRequest) -> Url:
    return url_read(request.url)


def _headers(call: Call, request: WebRequest) -> dict[str, str]:
    own = {"User-Agent": "ToolHub", "X-Request-Id": str(call.run_id)}
    if request.method not in REPEATABLE:
        own["Idempotency-Key"] = str(call.run_id)
    return {**request.headers, **own}


def _ms(begun: float) -> float:
    return round((time.perf_counter() - begun) * 1000, 3)
