"""Resolves a name once, and says which of its addresses may be connected to: all of them, or none."""

import contextlib
import queue
import socket
import threading
from collections.abc import Sequence
from ipaddress import ip_address

from core.http.addresses import IPAddress, inside
from core.http.allowed import Allowed
from core.http.errors import HttpFailed, HttpRefused
from core.http.urls import Url

# Where each may be spoken without anybody's leave.
PORTS = {"https": (443, 8443), "ssh": (22, 443)}


def addresses_checked(url: Url, allowed: Sequence[Allowed], *, seconds: float) -> list[IPAddress]:
    """The addresses of a url's host, each of which may be connected to.

    Public addresses are open to https and ssh at PORTS; all else needs an entry in `allowed`. Raises
    HttpRefused, and HttpFailed when the name is not resolved within `seconds`.
    """
    found = _resolve(url.host, seconds)
    for address in found:
        if any(entry.holds(url.host, address, url.port) for entry in allowed):
            continue
        where = inside(address)
        if where:
            # What an inside name stands for is not told to who asks.
            named = str(address) if url.host.strip("[]") == str(address) else "an address"
            raise HttpRefused(f"leads to {named}, which is {where}")
        ports = PORTS.get(url.scheme)
        if ports is None:
            raise HttpRefused(f"is {url.scheme}: only https is allowed")
        if url.port not in ports:
            raise HttpRefused(f"names port {url.port}: only {' and '.join(map(str, ports))} are allowed")
    return found


def addresses_open(host: str, port: int, allowed: Sequence[Allowed], *, seconds: float) -> list[IPAddress]:
    """The addresses of a host that somebody let a tool reach at this port: public ones, or in `allowed`.

    Raises HttpRefused, and HttpFailed when the name is not resolved within `seconds`.
    """
    found = _resolve(host, seconds)
    for address in found:
        where = inside(address)
        if where and not any(entry.holds(host, address, port) for entry in allowed):
            raise HttpRefused(f"leads to an address which is {where}")
    return found


def _resolve(host: str, seconds: float) -> list[IPAddress]:
    with contextlib.suppress(ValueError):
        return [ip_address(host)]
    # getaddrinfo knows no time limit, so that it runs in a thread which may be left behind.
    answer: queue.SimpleQueue[list[IPAddress] | OSError | UnicodeError] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            rows = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            answer.put(list(dict.fromkeys(ip_address(row[4][0]) for row in rows)))
        except (OSError, UnicodeError) as error:
            answer.put(error)

    threading.Thread(target=look_up, name=f"resolve {host[:40]}", daemon=True).start()
    try:
        found = answer.get(timeout=max(0.0, seconds))
    except queue.Empty as error:
        raise HttpFailed(f"the name {host} was not resolved in time", unsent=True) from error
    if isinstance(found, list) and found:
        return found
    raise HttpFailed(f"the name {host} does not resolve", unsent=True)
