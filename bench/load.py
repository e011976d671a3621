"""A closed-loop load generator: keep-alive connections on one event loop. Standard library only.

Lean on purpose: it shares the machine with the server, so its own cost would hide differences.
"""

import contextlib
import heapq
import itertools
import json
import selectors
import socket
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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


def post(port: int, path: str, body: Any, token: str, **headers: str) -> bytes:
    """A whole HTTP/1.1 request as bytes, with more headers."""
    return request_bytes(port, path, json.dumps(body).encode(), token, headers)


def request_bytes(port: int, path: str, payload: bytes, token: str, headers: Mapping[str, str]) -> bytes:
    """The same for a body that is written already."""
    lines = [
        f"POST {path} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        f"Authorization: Bearer {token}",
        "Content-Type: application/json",
        f"Content-Length: {len(payload)}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + payload


@dataclass(frozen=True)
class Stream:
    """So many clients that send these requests in turn.

    Each client sends its next request `pause_s` seconds after the answer to its last. `calls` bounds how many
    are sent in all.
    """

    requests: Iterator[bytes]
    clients: int
    pause_s: float = 0.0
    calls: int | None = None


@dataclass
class _Sent:
    """What a stream has sent and got."""

    stream: Stream
    sent: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    latencies: list[float] = field(default_factory=list)

    @property
    def may_send(self) -> bool:
        return self.stream.calls is None or self.sent < self.stream.calls


@dataclass
class _Client:
    socket: socket.socket
    of: _Sent
    sent_at: float = 0.0
    received: bytearray = field(default_factory=bytearray)

    def send(self) -> None:
        request = next(self.of.stream.requests)
        self.of.sent += 1
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
    """One stream of always the same request; see `loads`."""
    (found,) = loads(port, [Stream(itertools.repeat(request), clients, calls=calls)], seconds=seconds)
    return found


def loads(port: int, streams: Sequence[Stream], *, seconds: float = SILENCE_S) -> list[Load]:
    """Sends each stream's requests, all streams at the same time; what each of them got.

    Ends after `seconds`, or when each stream has sent its `calls`; what is under way is waited for, so that
    every call sent is also counted. Raises BenchError when the server falls silent.
    """
    sides = [_Sent(stream) for stream in streams]
    with contextlib.ExitStack() as held:
        selector = held.enter_context(selectors.DefaultSelector())
        clients = []
        for side in sides:
            for _ in range(side.stream.clients):
                one = held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=SILENCE_S))
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                clients.append(_Client(one, side))
                selector.register(one, selectors.EVENT_READ, clients[-1])
        begun = time.perf_counter()
        _exchange(selector, clients, begun + seconds)
        took = time.perf_counter() - begun
    return [Load(side.statuses, took, side.latencies) for side in sides]


def _exchange(selector: selectors.BaseSelector, clients: Sequence[_Client], ends: float) -> None:
    under_way = 0
    for client in clients:
        if client.of.may_send:
            client.send()
            under_way += 1
    paused: list[tuple[float, int]] = []
    numbers = {id(client): number for number, client in enumerate(clients)}
    while under_way or paused:
        left = paused[0][0] - time.perf_counter() if paused else SILENCE_S
        ready = selector.select(max(0.0, left))
        if not ready and not paused:
            raise BenchError(f"The server did not answer for {SILENCE_S:.0f} s.")
        for key, _ in ready:
            client = key.data
            status = client.answer()
            if status is None:
                continue
            now = time.perf_counter()
            side = client.of
            side.statuses[status] += 1
            side.latencies.append(now - client.sent_at)
            under_way -= 1
            if side.stream.pause_s:
                heapq.heappush(paused, (now + side.stream.pause_s, numbers[id(client)]))
            elif now < ends and side.may_send:
                client.send()
                under_way += 1
        while paused and paused[0][0] <= (now := time.perf_counter()):
            client = clients[heapq.heappop(paused)[1]]
            if now < ends and client.of.may_send:
                client.send()
                under_way += 1
