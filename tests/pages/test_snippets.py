"""The settings that a tool's page gives to copy for MCP; tests/browser/test_try_it.py has the other forms."""

import json
from collections.abc import Callable
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from registry.snippets import snippets

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = 'it\'s "$HOME" `ü`\nand {braces}'


def test_the_settings_bring_a_client_to_the_tools(
    live_server: Any, assign: Callable[[str], None], token_text: str
) -> None:
    assign("echo")
    made = {each.name: each.text for each in snippets(live_server.url, "echo", {"text": TEXT})}
    assert not any(token_text in text for text in made.values())
    server = json.loads(made["MCP"].replace("${TOKEN}", token_text))["mcpServers"]["toolhub"]
    call = json.loads(made["MCP message"])["params"]

    async def talk() -> None:
        async with (
            httpx2.AsyncClient(headers=server["headers"], timeout=60) as http,
            Client(streamable_http_client(server["url"], http_client=http)) as client,
        ):
            assert [tool.name for tool in (await client.list_tools()).tools] == ["echo"]
            done = await client.call_tool(call["name"], call["arguments"])
            assert (done.is_error, done.structured_content) == (False, {"text": TEXT})

    anyio.run(talk)
