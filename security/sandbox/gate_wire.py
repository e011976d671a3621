"""What the gate reads and copies: one request's head, and then bytes."""

import contextlib
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass

from core.http.errors import HttpRefused
from core.http.urls import url_read

HEAD_MOST = 16 * 1024
_BLOCK = 64 * 1024
_REASONS = {400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway"}
# Between a client and its proxy; and those that this proxy sets itself.
_DROPPED = {b"proxy-connection", b"proxy-authorization", b"connection", b"keep-alive", b"host", b"te"}
Spend = Callable[[int, bool], bool]


class WireError(Exception):
    """The proxy says no; `answer` is what the tool gets."""

    def __init__(self, status: int, told: str) -> None:
        super().__init__(told)
        body = f"ToolHub: {told}\n".encode()
        head = f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        self.answer = f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body


@dataclass(frozen=True)
class Asked:
    """Where a request goes, and what the server gets first: for a tunnel only what came too early."""

    host: str
    port: int
    is_tunnel: bool
    first: bytes


def asked_read(client: socket.socket) -> Asked:
    """Reads a request's head. Raises WireError."""
    read = bytearray()
    while b"\r\n\r\n" not in read:
        block = client.recv(4096)
        if not block or len(read) > HEAD_MOST:
            raise WireError(400, "The request's head is not complete, or too long.")
        read += block
    head, _, rest = bytes(read).partition(b"\r\n\r\n")
    if len(head) > HEAD_MOST:
        raise WireError(400, "The request's head is too long.")
    line, *headers = head.split(b"\r\n")
    words = line.split(b" ")
    # What servers might read as one more line, or as part of the line before, is refused.
    odd = any(each[:1] in {b" ", b"\t", b""} or set(each) & set(b"\r\n\0") for each in (line, *headers))
    if odd or len(words) != 3 or not words[0].isalpha() or not words[2].startswith(b"HTTP/1."):
        raise WireError(400, "That is no request of HTTP/1.1.")
    method, target = words[0], words[1].decode("latin-1")
    try:
        if method == b"CONNECT":
            if set(target) & set("/?#@"):
                raise HttpRefused("is no host and port")
            url = url_read(f"https://{target}")
            return Asked(url.host, url.port, True, rest)
        url = url_read(target)
    except HttpRefused as error:
        raise WireError(400, f"The address {error}.") from error
    if url.scheme != "http":
        raise WireError(400, "Addresses with https are reached by CONNECT.")
    # The server gets the host that was checked, whatever the tool wrote, and one request for a connection.
    kept = [each for each in headers if each.partition(b":")[0].strip().lower() not in _DROPPED]
    lines = [b"%s %s HTTP/1.1" % (method, url.target.encode()), b"Host: " + url.authority.encode()]
    first = b"\r\n".join([*lines, *kept, b"Connection: close"]) + b"\r\n\r\n" + rest
    return Asked(url.host, url.port, False, first)


def pump(client: socket.socket, server: socket.socket, spend: Spend) -> None:
    """Copies in both directions until both are at their end, or one may have no more bytes."""

    def there() -> None:
        _copy(client, server, lambda size: spend(size, True))

    sender = threading.Thread(target=there, name="gate", daemon=True)
    sender.start()
    _copy(server, client, lambda size: spend(size, False))
    # The server has said all: what the tool still sends goes nowhere.
    with contextlib.suppress(OSError):
        client.shutdown(socket.SHUT_RDWR)
    sender.join()


def _copy(source: socket.socket, target: socket.socket, spend: Callable[[int], bool]) -> None:
    with contextlib.suppress(OSError):
        while block := source.recv(_BLOCK):
            if not spend(len(block)):
                break
            target.sendall(block)
        else:
            target.shutdown(socket.SHUT_WR)
            return
    for each in (source, target):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
