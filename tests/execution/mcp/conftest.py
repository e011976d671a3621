"""Asking `/mcp` as a client does."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from django.test import Client

Ask = Callable[..., Any]
MODERN = "2026-07-28"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.fixture
def ask(client: Client, token_text: str) -> Ask:
    """Posts a message of the handshake's era: `ask("tools/list", cursor="a")`; `raw=` posts that instead."""

    def do(
        method: str = "", *, raw: Any = None, path: str = "/mcp", headers: Any = None, **params: Any
    ) -> Any:
        message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        body = raw if isinstance(raw, bytes) else orjson.dumps(message if raw is None else raw)
        given = {"Authorization": f"Bearer {token_text}", **(headers or {})}
        return client.post(path, body, content_type="application/json", headers=given)

    return do


@pytest.fixture
def ask_modern(ask: Ask) -> Ask:
    """The same as the revision without a handshake has it."""

    def do(method: str, *, headers: Any = None, path: str = "/mcp", **params: Any) -> Any:
        named = {"Mcp-Name": params["name"]} if "name" in params else {}
        given = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method, **named, **(headers or {})}
        params["_meta"] = {**ENVELOPE, **params.get("_meta", {})}
        return ask(method, headers=given, path=path, **params)

    return do
