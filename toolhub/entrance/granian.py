"""The parts of granian's RSGI interface that the entrance uses, as types."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

Headers = list[tuple[str, str]]


class HeaderMap(Protocol):
    """Names in lower case; values that are not visible ASCII are left out."""

    def items(self) -> Headers: ...
    def get(self, key: str, default: str | None = None) -> str | None: ...


class Scope(Protocol):
    """A request without its body."""

    http_version: str
    server: str
    client: str
    scheme: str
    method: str
    path: str
    query_string: str
    headers: HeaderMap


class Chunk(Protocol):
    """A part of a body that comes: a future by asyncio's protocol."""

    def add_done_callback(self, callback: Callable[["Chunk"], None]) -> None: ...
    def result(self) -> bytes: ...
    def cancel(self) -> bool: ...
    def cancelled(self) -> bool: ...


class Stream(Protocol):
    """An answer that is sent part by part."""

    def send_bytes(self, data: bytes) -> Iterator[Any]: ...


class Exchange(Protocol):
    """A request's body, and the way of its answer. Any thread may answer, once."""

    def __aiter__(self) -> Any: ...
    def __anext__(self) -> Chunk: ...
    def response_bytes(self, status: int, headers: Headers, body: bytes) -> None: ...
    def response_stream(self, status: int, headers: Headers) -> Stream: ...


class Arrival(Protocol):
    """A request that has arrived: its headers are there."""

    scope: Scope
    proto: Exchange
