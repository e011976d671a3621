"""A closed-loop load generator: keep-alive connections on one event loop. Standard library only.

Lean on purpose: it shares the machine with the server, so its own cost would hide differences.
"""

import json
import selectors
import socket
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import quantiles
from typing import Any

SILENCE_S = 30.0


class BenchError(Exception):
    """The measurement cannot go on; the message is for the person who runs it."""


@dataclass(frozen=True)
class Load:
    """What one run of load got: answers by status, seconds from first byte to last, latencies in s."""

    statuses: Counter[int]
    seconds: float
    latencies: list[float]

    @property
    def answered(self) -> int:
        """Calls that were answered 200."""
        return self.statuses[200]

    @property
    def rate(self) -> float:
        """Answers 200 per second."""
        return self.answered / self.seconds

    def percentile_ms(self, percent: int) -> float:
        """The latency, in ms, that `percent` of the answers do not exceed."""
        if len(self.latencies) < 2:
            return self.latencies[0] * 1000
        return quantiles(self.latencies, n=100, method="inclusive")[percent - 1] * 1000


def post(port: int, path: str, body: Mapping[str, Any], token: str, **headers: str) -> bytes:
    """A whole HTTP/1.1 request as bytes, with more headers."""
    payload = json.dumps(body).encode()
    lines = [
        f"POST {path} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        f"Authorization: Bearer {token}",
        "Content-Type: application/json",
        f"Content-Length: {len(payload)}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + payload


@dataclass
class _Client:
    socket: socket.socket
    sent_at: float = 0.0
    received: bytearray = field(default_factory=bytearray)

    def send(self, request: bytes) -> None:
        self.received.clear()
        self.sent_at = time.perf_counter()
        self.socket.sendall(request)

    def answer(self) -> int | None:
        """The status once the whole answer is there, else None."""
        block = self.socket.recv(65536)
        if not block:
            raise BenchError("The server closed a connection without an answer.")
        self.received += block
        end = self.received.find(b"\r\n\r\n")
        if end < 0:
            return None
        head = bytes(self.received[:end]).lower()
        _, found, rest = head.partition(b"content-length:")
        if not found:
            raise BenchError("The server answered without Content-Length.")
        length = int(rest.partition(b"\r\n")[0])
        return int(head[9:12]) if len(self.received) >= end + 4 + length else None


def load(
    port: int, request: bytes, *, clients: int, seconds: float = SILENCE_S, calls: int | None = None
) -> Load:
    """Sends the request from `clients` connections, each its next after its last was answered.

    Ends after `seconds`, or `calls` in all when given; what is under way is waited for, so that
    every call sent is also counted. Raises BenchError when the server falls silent.
    """
    statuses: Counter[int] = Counter()
    latencies: list[float] = []
    with selectors.DefaultSelector() as selector:
        everyone = [
            _Client(socket.create_connection(("127.0.0.1", port), timeout=SILENCE_S)) for _ in range(clients)
        ]
        try:
            begun = time.perf_counter()
            sent = 0
            for client in everyone[:calls]:
                client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                selector.register(client.socket, selectors.EVENT_READ, client)
                client.send(request)
                sent += 1
            while selector.get_map():
                ready = selector.select(SILENCE_S)
                if not ready:
                    raise BenchError(f"The server did not answer for {SILENCE_S:.0f} s.")
                for key, _ in ready:
                    client = key.data
                    status = client.answer()
                    if status is None:
                        continue
                    now = time.perf_counter()
                    statuses[status] += 1
                    latencies.append(now - client.sent_at)
                    if now - begun < seconds and (calls is None or sent < calls):
                        client.send(request)
                        sent += 1
                    else:
                        selector.unregister(client.socket)
            return Load(statuses, time.perf_counter() - begun, latencies)
        finally:
            for client in everyone:
                client.socket.close()
