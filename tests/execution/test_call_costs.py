"""Pins what one request costs: Python calls and statements, route by route.

Counts do not depend on the machine's load, as times do: a loss of speed shows here first. A change that costs
more than a pin allows needs a reason; one that costs less lowers the pin.
"""

import io
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import orjson
import psycopg
import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection
from django.db.backends.sqlite3.base import SQLiteCursorWrapper

from core.handler import Handler
from execution.engine.store.statements import statement_execute
from tests.execution.mcp.conftest import ENVELOPE, MODERN

pytestmark = pytest.mark.django_db
# How far a count may lie beside its pin, as a share of it.
TOLERANCE = 0.02
# How often each request is sent before it is counted: what is cached or loaded once is no cost of a request.
WARM = 5
COUNTED = 5
# Each way to a database passes one of these: psycopg's cursor, the prepared statements, Django's cursor of SQLite.
STATEMENTS = {
    psycopg.Cursor.execute.__code__,
    statement_execute.__code__,
    SQLiteCursorWrapper.execute.__code__,
}
# By minor version of Python and database: Python calls and statements of one request.
PINS: dict[tuple[tuple[int, int], str], dict[str, tuple[int, int]]] = {
    ((3, 11), "postgresql"): {
        "execute": (701, 3),
        "execute, with a key": (916, 5),
        "execute, respond-async": (647, 3),
        "operation": (12457, 7),
        "MCP tools/call": (726, 3),
        "MCP tools/list": (9014, 4),
        "GET tools": (9201, 4),
        "GET tool": (12547, 6),
    },
    ((3, 11), "sqlite"): {
        "execute": (12915, 10),
        "execute, with a key": (13248, 11),
        "execute, respond-async": (13260, 11),
        "operation": (13066, 10),
        "MCP tools/call": (12960, 10),
        "MCP tools/list": (8582, 4),
        "GET tools": (8747, 4),
        "GET tool": (11842, 6),
    },
}


@pytest.fixture(autouse=True)
def events_have_words() -> None:
    """The look at each event (tests/conftest.py) is no cost of a request."""


@dataclass
class Cost:
    """Counts Python calls and statements while it is the profile function of this thread."""

    calls: int = 0
    statements: int = 0
    where: Counter[str] = field(default_factory=Counter)

    def __call__(self, frame: FrameType, event: str, _arg: Any) -> None:
        if event != "call":
            return
        self.calls += 1
        code = frame.f_code
        self.where[f"{code.co_filename.rpartition('/')[2]}:{code.co_name}"] += 1
        self.statements += code in STATEMENTS


@dataclass(frozen=True)
class Ask:
    """A request of a client with a token."""

    method: str
    path: str
    body: Any = None
    headers: tuple[tuple[str, str], ...] = ()
    status: int = 200


def mcp(method: str, **params: Any) -> Ask:
    named = (("MCP_NAME", params["name"]),) if "name" in params else ()
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": {**params, "_meta": ENVELOPE}}
    return Ask(
        "POST",
        "/mcp",
        message,
        (("MCP_PROTOCOL_VERSION", MODERN), ("MCP_METHOD", method), ("ACCEPT", "application/json"), *named),
    )


ECHO = {"arguments": {"text": "hello"}}
REQUESTS = {
    "execute": Ask("POST", "/api/v1/tools/echo/execute", ECHO),
    "execute, with a key": Ask("POST", "/api/v1/tools/echo/execute", ECHO, (("IDEMPOTENCY_KEY", "{}"),)),
    "execute, respond-async": Ask(
        "POST",
        "/api/v1/tools/echo/execute",
        ECHO,
        (("PREFER", "respond-async"),),
        202,
    ),
    "operation": Ask(
        "POST",
        "/api/v1/execute",
        {"operation": "execute_single", "parameters": {"toolName": "echo", "arguments": {"text": "hello"}}},
    ),
    "MCP tools/call": mcp("tools/call", name="echo", arguments={"text": "hello"}),
    "MCP tools/list": mcp("tools/list"),
    "GET tools": Ask("GET", "/api/v1/tools"),
    "GET tool": Ask("GET", "/api/v1/tools/echo"),
}


@pytest.fixture
def send(
    token_text: str,
    assign: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[Ask], Cost]]:
    """Sends a request straight to the WSGI application, and counts."""
    # The connection is the test's: what it wrote is not committed.
    monkeypatch.setattr("core.handler.close_old_connections", lambda: None)
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    assign("toolhub-data")
    application, number = Handler(), iter(range(10_000))

    def do(ask: Ask) -> Cost:
        body = orjson.dumps(ask.body) if ask.body is not None else b""
        mark = next(number)
        environ = {
            "REQUEST_METHOD": ask.method,
            "PATH_INFO": ask.path,
            "QUERY_STRING": "",
            "SERVER_NAME": "testserver",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_HOST": "testserver",
            "HTTP_AUTHORIZATION": f"Bearer {token_text}",
            "wsgi.input": io.BytesIO(body),
            "wsgi.url_scheme": "http",
            **{f"HTTP_{name}": value.format(f"key-{mark}") for name, value in ask.headers},
        }
        answers: list[str] = []
        cost = Cost()
        sys.setprofile(cost)
        try:
            parts = application(environ, lambda status, _headers: answers.append(status))
        finally:
            sys.setprofile(None)
        assert answers[0].startswith(str(ask.status)), (answers, b"".join(parts))
        return cost

    yield do
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def test_each_request_costs_what_is_pinned(send: Callable[[Ask], Cost]) -> None:
    pins = PINS.get((sys.version_info[:2], connection.vendor))
    if pins is None:
        pytest.skip(f"Nobody has pinned the counts on Python {sys.version_info[0]}.{sys.version_info[1]}.")
    found, beside = {}, []
    for name, ask in REQUESTS.items():
        for _ in range(WARM):
            send(ask)
        # The least of some: what is looked at again after a time (the room in a queue) falls on one of them.
        cost = min((send(ask) for _ in range(COUNTED)), key=lambda one: (one.statements, one.calls))
        found[name] = (cost.calls, cost.statements)
        calls, statements = pins.get(name, (0, 0))
        if abs(cost.calls - calls) > TOLERANCE * calls or cost.statements != statements:
            beside.append(f"{name}: {found[name]}, pinned {calls, statements}; {cost.where.most_common(4)}")
    assert not beside, "\n".join([*beside, str(found)])
