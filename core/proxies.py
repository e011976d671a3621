"""Who really asks, where a reverse proxy stands in between: believed from named proxies only.

The settings import this: nothing here may need them already.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from core.http.addresses import IPAddress

PROTO, CHAIN = "HTTP_X_FORWARDED_PROTO", "HTTP_X_FORWARDED_FOR"


class ProxyMiddleware:
    """Makes REMOTE_ADDR the caller's address and takes the proxy's word on https, where a named proxy asks.

    Of anybody else `X-Forwarded-Proto` is taken away and `X-Forwarded-For` not read: both could be made up.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        meta = request.META
        peer = _peer(meta.get("REMOTE_ADDR", ""))
        if peer is None or not _named(peer):
            meta.pop(PROTO, None)
        else:
            meta["REMOTE_ADDR"] = str(caller_of(peer, meta.get(CHAIN, "").split(",")))
        return self.get_response(request)


def caller_address(peer: str, chain: str) -> str:
    """The caller's address where `peer` connects and `X-Forwarded-For` is `chain`."""
    read = _peer(peer)
    return peer if read is None or not _named(read) else str(caller_of(read, chain.split(",")))


def caller_of(peer: IPAddress, chain: Iterable[str]) -> IPAddress:
    """The nearest address of `X-Forwarded-For` that is no named proxy: each proxy appends who asked it.

    What stands further left was written by the caller. Where something else than an address stands, what was
    read until there counts.
    """
    found = peer
    for text in reversed(list(chain)):
        read = _address(text)
        if read is None:
            break
        found = read
        if not _named(found):
            break
    return found


@lru_cache(maxsize=64)
def proxy_read(text: str) -> IPv4Network | IPv6Network:
    """An address or network of proxies. Raises ValueError."""
    try:
        return ip_network(text)
    except ValueError as error:
        raise ValueError(f"{text} is no address or network such as 10.0.0.5 or 10.0.0.0/24") from error


def _named(address: IPAddress) -> bool:
    networks = map(proxy_read, settings.PROXIES)
    return any(address.version == one.version and address in one for one in networks)


@lru_cache(maxsize=1024)
def _peer(text: str) -> IPAddress | None:
    """The address of who connects: one that comes once often comes again."""
    return _address(text)


def _address(text: str) -> IPAddress | None:
    """The address, without a port that some proxies write, unmapped, and without a zone."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        read = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return read.ipv4_mapped or read if isinstance(read, IPv6Address) else read
