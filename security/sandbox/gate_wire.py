"""What the gate reads and copies: one request's head, and then bytes."""

import contextlib
import re
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass

from core.http.errors import HttpRefused
from core.http.urls import url_read

HEAD_MOST = 16 * 1024
_BLOCK = 64 * 1024
_REASONS = {400: "Bad Request", 403: "Forbidden", 411: "Length Required", 502: "Bad Gateway"}
_NAME, _NUMBER = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"), re.compile(rb"[0-9]{1,15}")
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
    """Where a request goes, and what the server gets first: for a tunnel only what came too early.

    `left` are the bytes of its body that are still to come; None for a tunnel, which ends when it ends.
    """

    host: str
    port: int
    first: bytes
    left: int | None

    @property
    def is_tunnel(self) -> bool:
        return self.left is None


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
            return Asked(url.host, url.port, rest, None)
        url = url_read(target)
    except HttpRefused as error:
        raise WireError(400, f"The address {error}.") from error
    if url.scheme != "http":
        raise WireError(400, "Addresses with https are reached by CONNECT.")
    # The server gets the host that was checked, whatever the tool wrote, and one request for a connection:
    # a second one could name another host.
    left = _length(headers) - len(rest)
    if left < 0:
        raise WireError(400, "More came than the request says.")
    kept = [each for each in headers if _name(each) not in _DROPPED]
    lines = [b"%s %s HTTP/1.1" % (method, url.target.encode()), b"Host: " + url.authority.encode()]
    first = b"\r\n".join([*lines, *kept, b"Connection: close"]) + b"\r\n\r\n" + rest
    return Asked(url.host, url.port, first, left)


def _name(header: bytes) -> bytes:
    return header.partition(b":")[0].lower()


def _length(headers: list[bytes]) -> int:
    """The bytes of the body that these announce. Raises WireError where that can be read in two ways."""
    if not all(_NAME.fullmatch(_name(each)) and b":" in each for each in headers):
        raise WireError(400, "A header of the request has no name.")
    if any(_name(each) == b"transfer-encoding" for each in headers):
        raise WireError(411, "A request has to say how long it is, by Content-Length.")
    lengths = [each.partition(b":")[2].strip(b" \t") for each in headers if _name(each) == b"content-length"]
    if len(lengths) > 1 or not all(map(_NUMBER.fullmatch, lengths)):
        raise WireError(400, "The length of the request is not clear.")
    return int(lengths[0]) if lengths else 0


def pump(client: socket.socket, server: socket.socket, spend: Spend, left: int | None) -> None:
    """Copies in both directions until both are at their end, or one may have no more bytes.

    Of the client `left` bytes are wanted, None for all: more ends it.
    """

    def wanted(size: int) -> bool:
        nonlocal left
        if left is not None:
            left -= size
        return left is None or left >= 0

    def there() -> None:
        _copy(client, server, lambda size: wanted(size) and spend(size, True))

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
