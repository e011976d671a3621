"""The connection: to exactly the address that was checked, and no longer than the request may take."""

import ssl
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import httpcore2

from core.http.allowed import Allowed
from core.http.names import addresses_checked
from core.http.urls import Url


class Deadline:
    """A moment by the monotonic clock, `seconds` from now."""

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds

    def left(self, most: float | None = None) -> float:
        """Seconds left, at most `most`. Raises httpcore2.TimeoutException when there are none."""
        seconds = self._ends - time.monotonic()
        if seconds <= 0:
            raise httpcore2.ReadTimeout("the whole time is over")
        return seconds if most is None else min(seconds, most)


class BoundedStream(httpcore2.NetworkStream):
    """A stream on which a slow trickle does not make the request last longer."""

    def __init__(
        self, inner: httpcore2.NetworkStream, deadline: Deadline, on_write: Callable[[], None]
    ) -> None:
        self._inner, self._deadline, self._on_write = inner, deadline, on_write

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._deadline.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        left = self._deadline.left(timeout)
        self._on_write()
        self._inner.write(buffer, left)

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        secured = self._inner.start_tls(ssl_context, server_hostname, self._deadline.left(timeout))
        return BoundedStream(secured, self._deadline, self._on_write)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class GuardedBackend(httpcore2.NetworkBackend):
    """Resolves the host once, checks every address, and connects to the first that answers."""

    def __init__(self, url: Url, allowed: Sequence[Allowed], deadline: Deadline) -> None:
        self._url, self._allowed, self._deadline = url, allowed, deadline
        self._plain = httpcore2.SyncBackend()
        # Whether a byte of the request may have gone out. What TLS sends before is none of it.
        self.sent = False

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        if (host, port) != (self._url.host, self._url.port):
            raise httpcore2.ConnectError("this connection is for another host")
        addresses = addresses_checked(self._url, self._allowed, seconds=self._deadline.left(timeout))
        for address in addresses[:-1]:
            try:
                return self._connect(str(address), timeout)
            except (httpcore2.NetworkError, httpcore2.ConnectTimeout):
                continue
        return self._connect(str(addresses[-1]), timeout)

    def _connect(self, address: str, timeout: float | None) -> httpcore2.NetworkStream:
        left = self._deadline.left(timeout)
        inner = self._plain.connect_tcp(address, self._url.port, left)
        return BoundedStream(inner, self._deadline, self._send)

    def _send(self) -> None:
        self.sent = True
