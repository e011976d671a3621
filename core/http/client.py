"""Sends one request to an address from outside.

The name is resolved once, every address is checked, and the connection goes to an address that was checked:
a second answer of a hostile name server changes nothing. Redirects are not followed, proxies and `.netrc` of
the environment are not read, TLS is verified against the name, bodies are not unpacked, time and size are
bounded. Only what sends imports this: httpcore2 takes 8 MB of a process.
"""

import functools
import ssl
from collections.abc import Mapping
from dataclasses import dataclass

import httpcore2

from core.http.check import allowed_now
from core.http.errors import HttpFailed
from core.http.urls import Url
from core.http.wire import Deadline, GuardedBackend

STEP_S = 5.0


@dataclass(frozen=True)
class Reply:
    """What came back: names of headers in small letters; `complete` is false when the body was longer."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    complete: bool


@functools.cache
def tls_context() -> ssl.SSLContext:
    """Verifies chain and name by the system's authorities (or those of SSL_CERT_FILE)."""
    return ssl.create_default_context()


def http_send(
    method: str,
    url: Url,
    *,
    headers: Mapping[str, str],
    body: bytes = b"",
    seconds: float,
    most_bytes: int,
) -> Reply:
    """The answer to one request, whatever its status. Raises HttpRefused and HttpFailed.

    `seconds` bounds the whole of it, from the name to the body's last byte; of the answer's body at most
    `most_bytes` are read. The connection is closed afterwards.
    """
    deadline = Deadline(seconds)
    own = {"Host": url.authority, "Accept-Encoding": "identity", "Connection": "close"}
    if body:
        own["Content-Length"] = str(len(body))
    sent = [*own.items(), *headers.items()]
    core_url = httpcore2.URL(
        scheme=url.scheme.encode(), host=url.host.encode(), port=url.port, target=url.target.encode()
    )
    timeouts = dict.fromkeys(("connect", "read", "write", "pool"), seconds)
    timeouts["connect"] = min(STEP_S, seconds)
    backend = GuardedBackend(url, allowed_now(), deadline)
    answered = False
    try:
        with (
            httpcore2.ConnectionPool(ssl_context=tls_context(), network_backend=backend) as pool,
            pool.stream(
                method,
                core_url,
                headers=sent,
                content=body,
                extensions={"timeout": timeouts},
            ) as answer,
        ):
            answered = True
            content, complete = _body(answer, most_bytes)
            names = {
                name.decode("latin-1").lower(): value.decode("latin-1") for name, value in answer.headers
            }
            return Reply(answer.status, names, content, complete)
    except httpcore2.TimeoutException as error:
        told = f"no answer within {seconds:g} s"
        raise HttpFailed(told, unsent=not backend.sent, answered=answered) from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        raise HttpFailed(_words(error), unsent=not backend.sent, answered=answered) from error


def _body(answer: httpcore2.Response, most_bytes: int) -> tuple[bytes, bool]:
    """At most so many bytes, and whether that was all."""
    got = bytearray()
    for part in answer.iter_stream():
        got += part
        if len(got) > most_bytes:
            return bytes(got[:most_bytes]), False
    return bytes(got), True


def _words(error: Exception) -> str:
    """The failure in words that tell nothing of this machine."""
    if isinstance(error, httpcore2.ConnectError):
        cause = error.__cause__ or error.__context__
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate is not accepted: {cause.verify_message}"
        return "TLS could not be agreed on" if isinstance(cause, ssl.SSLError) else "no connection"
    if isinstance(error, httpcore2.ProtocolError):
        return "its answer is not HTTP as it should be"
    return "the connection broke"
