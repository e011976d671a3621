"""The official client at a real server, in both eras of the protocol."""

import json
from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from execution.models import Run
from registry.models import Package

pytestmark = pytest.mark.django_db(transaction=True)
Talk = Callable[[Client], Coroutine[Any, Any, None]]
NEWEST = {"auto": "2026-07-28", "legacy": "2025-11-25"}


@pytest.fixture(params=sorted(NEWEST))
def talk(request: pytest.FixtureRequest, live_server: Any, token_text: str) -> Callable[[Talk], None]:
    """Runs a conversation with the hub; each is held in both eras."""

    async def held(conversation: Talk) -> None:
        headers = {"Authorization": f"Bearer {token_text}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(f"{live_server.url}/mcp", http_client=http)
            async with Client(transport, mode=request.param) as client:
                assert client.protocol_version == NEWEST[request.param]
                await conversation(client)

    return lambda conversation: anyio.run(held, conversation)


def test_a_client_lists_and_calls_the_tools_of_its_persona(
    talk: Callable[[Talk], None], assign: Callable[[str], None], fx: Package
) -> None:
    assign("echo")
    assign("current_time")

    async def conversation(client: Client) -> None:
        assert client.server_info is not None
        assert client.server_info.name == "toolhub"
        assert "researcher" in (client.instructions or "")
        found = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"echo", "current_time", "fx_echo"} <= found.keys()
        assert found["echo"].input_schema["required"] == ["text"]
        assert found["echo"].annotations is not None
        assert found["echo"].annotations.read_only_hint is True
        done = await client.call_tool("echo", {"text": "é"})
        assert (done.is_error, done.structured_content) == (False, {"text": "é"})
        assert done.content[0].text == '{"text":"é"}'  # type: ignore[union-attr]
        refused = await client.call_tool("echo", {"text": 1})
        assert refused.is_error is True
        assert '"INVALID_ARGUMENTS"' in refused.content[0].text  # type: ignore[union-attr]
        # What is no object has no structure in MCP, unless the tool says that it comes under `result`.
        value = [None, {"b": None, "a": 1.5}, "x"]
        nested = await client.call_tool("fx_echo", {"value": value})
        assert json.loads(nested.content[0].text) == value  # type: ignore[union-attr]

    talk(conversation)
    assert list(Run.objects.order_by("id").values_list("tool", "status")) == [
        ("echo", "completed"),
        ("fx_echo", "completed"),
    ]


def test_a_tool_published_meanwhile_is_in_the_next_list(
    talk: Callable[[Talk], None], assign: Callable[[str], None]
) -> None:
    assign("echo")

    async def conversation(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["echo"]
        await anyio.to_thread.run_sync(assign, "current_time")
        names = [tool.name for tool in (await client.list_tools(cache_mode="bypass")).tools]
        assert names == ["current_time", "echo"]

    talk(conversation)
