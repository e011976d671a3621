"""Ask a server whether it accepts credentials: a request with them and, if they are accepted, one without."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from core.http.errors import HttpFailed, HttpRefused
from core.http.urls import url_read

Verdict = Literal["accepted", "refused", "unclear", "unreachable"]
SECONDS = 10.0
# The body says nothing here; it may repeat what was sent.
_BODY_MOST = 1
_REFUSALS = frozenset({401, 403, 407})


@dataclass(frozen=True)
class Probe:
    """What a server did with credentials. `message` is a sentence without any of them.

    `host` is `name:port`; `status` is the answer's HTTP status, None without an answer.
    """

    verdict: Verdict
    message: str
    host: str
    status: int | None = None


@dataclass(frozen=True)
class Asked:
    """A request that changes nothing at its server."""

    url: str
    headers: Mapping[str, str]
    method: str = "GET"


def credentials_probe(asked: Asked, without: Asked, *, not_found: str = "") -> Probe:
    """Send `asked`, and `without`, the same request without the credentials, if the server accepts it.

    At most 10 s both. `not_found` explains the status 404.
    """
    ends = time.monotonic() + SECONDS
    try:
        url = url_read(asked.url)
    except HttpRefused as error:
        return Probe("unreachable", f"The address {error}.", "")
    host = f"{url.host}:{url.port}"
    try:
        status = _status(asked, ends)
    except HttpRefused as error:
        why = f"The hub may not connect to {host}: the address {error}. TOOLHUB_HTTP_ALLOW can allow it."
        return Probe("unreachable", why, host)
    except HttpFailed as error:
        return Probe("unreachable", f"{host} gave no answer: {error}.", host)
    if not 200 <= status < 300:
        return _not_accepted(host, status, not_found)
    try:
        other = _status(without, ends)
    except (HttpRefused, HttpFailed):
        return Probe("accepted", f"{host} accepted the request (status {status}).", host, status)
    if 200 <= other < 300:
        why = f"{host} answers the same request without credentials too, so it says nothing about them."
        return Probe("unclear", why, host, status)
    why = f"{host} accepted the request (status {status}) and refuses it without credentials ({other})."
    return Probe("accepted", why, host, status)


def _not_accepted(host: str, status: int, not_found: str) -> Probe:
    if status in _REFUSALS:
        return Probe("refused", f"{host} refused the credentials (status {status}).", host, status)
    if status == 404 and not_found:
        return Probe("unclear", f"{host} answered with status 404. {not_found}", host, status)
    if status == 429:
        why = f"{host} has had too many requests (status 429). Test again later."
    elif status >= 500:
        why = f"{host} failed with status {status}. Test again later."
    elif status < 400:
        why = f"{host} answered with status {status}, a redirect, which is not followed."
    else:
        why = f"{host} answered with status {status}, which says nothing about the credentials."
    return Probe("unclear", why, host, status)


def _status(asked: Asked, ends: float) -> int:
    """The status of the answer. Raises HttpRefused and HttpFailed."""
    from core.http.client import http_send  # noqa: PLC0415 - 8 MB, only where something is tested

    reply = http_send(
        asked.method,
        url_read(asked.url),
        headers={"User-Agent": "ToolHub", **asked.headers},
        seconds=max(ends - time.monotonic(), 0.001),
        most_bytes=_BODY_MOST,
    )
    return reply.status
