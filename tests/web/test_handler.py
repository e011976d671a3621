"""The short way around calls of tools answers to the letter what Django's own handler answers."""

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection

from core.handler import Handler, _is_call

pytestmark = pytest.mark.django_db
PATH = "/api/v1/tools/echo/execute"
GOOD = b'{"arguments": {"text": "a"}}'
Answer = tuple[str, list[tuple[str, str]], bytes]
MCP_LIST = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'

# What differs from a good call.
CALLS: dict[str, dict[str, Any]] = {
    "a good call": {},
    "a call that does not wait": {"HTTP_PREFER": "respond-async"},
    "no token": {"HTTP_AUTHORIZATION": None},
    "another scheme": {"HTTP_AUTHORIZATION": "Basic eA=="},
    "an unknown token": {"HTTP_AUTHORIZATION": f"Bearer thp_{'x' * 43}"},
    "an unknown tool": {"PATH_INFO": "/api/v1/tools/nothing/execute"},
    "a name with a slash": {"PATH_INFO": "/api/v1/tools/a/b/execute"},
    "a NUL in the address": {"PATH_INFO": "/api/v1/tools/a\0b/execute"},
    "a NUL in the query": {"QUERY_STRING": "a=%00"},
    "another host": {"HTTP_HOST": "evil.example"},
    "no JSON": {"body": b"{"},
    "no body": {"body": b""},
    "a member twice": {"body": b'{"arguments": {}, "arguments": {}}'},
    "arguments that do not fit": {"body": b'{"arguments": {"text": 1}}'},
    "a body that is too large": {"body": b'"' + b"a" * 1_048_577 + b'"'},
    "a form": {"CONTENT_TYPE": "application/x-www-form-urlencoded"},
    "an unknown media type": {"HTTP_ACCEPT": "text/html"},
    "a key of the hub's own": {"HTTP_IDEMPOTENCY_KEY": "schedule:1:2"},
    "a word of a proxy that nobody named": {"HTTP_X_FORWARDED_PROTO": "https"},
    "MCP, a list": {"PATH_INFO": "/mcp", "body": MCP_LIST},
    "MCP, a notification": {"PATH_INFO": "/mcp", "body": b'{"jsonrpc": "2.0", "method": "a"}'},
    "MCP, no message": {"PATH_INFO": "/mcp", "body": b"{}"},
    "MCP, no token": {"PATH_INFO": "/mcp", "body": MCP_LIST, "HTTP_AUTHORIZATION": None},
    "MCP, no collection": {"PATH_INFO": "/mcp/none", "body": MCP_LIST},
}


def environ(token: str, changes: dict[str, Any]) -> dict[str, Any]:
    body = changes.get("body", GOOD)
    made = {
        "REQUEST_METHOD": "POST",
        "SCRIPT_NAME": "",
        "PATH_INFO": PATH,
        "QUERY_STRING": "",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": "127.0.0.1",
        "HTTP_AUTHORIZATION": f"Bearer {token}",
        "HTTP_X_REQUEST_ID": "the-same-id",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
        "wsgi.url_scheme": "http",
        **{name: value for name, value in changes.items() if name != "body"},
    }
    return {name: value for name, value in made.items() if value is not None}


def answer(handler: WSGIHandler, asked: dict[str, Any]) -> Answer:
    heads: list[tuple[str, list[tuple[str, str]]]] = []
    body = handler(asked, lambda status, headers: heads.append((status, headers)))
    whole = b"".join(body)
    # What differs from call to call.
    whole = re.sub(rb"[0-9a-f]{64}|[0-9a-f-]{36}|\d{4}-\d\d-\d\dT[0-9:.]+|_ms\":[0-9.]+", b"*", whole)
    ((status, headers),) = heads
    plain = [(name, re.sub(r"[0-9a-f-]{36}", "*", value)) for name, value in headers]
    return status, [pair for pair in plain if pair[0] != "Content-Length"], whole


@pytest.mark.parametrize("changes", CALLS.values(), ids=CALLS)
def test_the_short_way_answers_as_django_does(
    token_text: str,
    assign: Callable[[str], None],
    changes: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assign("echo")
    # Both ends would close the connection that the test's transaction is on.
    monkeypatch.setattr(connection, "close_if_unusable_or_obsolete", lambda: None)
    usual = answer(WSGIHandler(), environ(token_text, changes))
    asked = environ(token_text, changes)
    assert _is_call(asked)
    assert answer(Handler(), asked) == usual
    assert ("X-Request-ID", "the-same-id") in usual[1]


@pytest.mark.parametrize(
    "changes",
    [
        {"REQUEST_METHOD": "GET"},
        {"REQUEST_METHOD": "OPTIONS"},
        {"PATH_INFO": "/api/v1/tools/echo"},
        {"PATH_INFO": "/sign-in/execute"},
        {"PATH_INFO": "/mcp", "REQUEST_METHOD": "GET"},
        {"PATH_INFO": "/mcpx"},
        {"SCRIPT_NAME": "/hub"},
    ],
)
def test_whatever_else_goes_djangos_way(token_text: str, changes: dict[str, Any]) -> None:
    assert not _is_call(environ(token_text, changes))


def test_a_good_call_is_answered(
    token_text: str, assign: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    assign("echo")
    monkeypatch.setattr(connection, "close_if_unusable_or_obsolete", lambda: None)
    status, headers, body = answer(Handler(), environ(token_text, {}))
    assert status == "200 OK"
    assert b'"data":{"text":"a"}' in body
    assert {("Referrer-Policy", "same-origin"), ("X-Content-Type-Options", "nosniff")} <= set(headers)


def test_a_calls_connection_goes_back(token_text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[int] = []
    monkeypatch.setattr(connection, "close_if_unusable_or_obsolete", lambda: closed.append(1))
    answer(Handler(), environ(token_text, {}))
    assert closed == [1]


def test_a_server_can_load_the_application_by_itself() -> None:
    """As granian does: nothing has set Django up before."""
    code = "from toolhub.wsgi import application"
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "toolhub.settings"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
