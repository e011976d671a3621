"""The program that a tool's page gives to copy for MCP; tests/browser/test_try_it.py has the other forms."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from registry.snippets import snippets

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = 'it\'s "$HOME" `ü`\nand {braces}'


@pytest.fixture
def copied(
    live_server: Any, assign: Callable[[str], None], token_text: str, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    assign("echo")
    monkeypatch.setenv("TOKEN", token_text)
    made = {each.name: each.text for each in snippets(live_server.url, "echo", {"text": TEXT})}
    assert not any(token_text in text for text in made.values())
    return made


def said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def test_the_bridge_makes_the_call_and_serves_an_mcp_client(copied: dict[str, str], tmp_path: Path) -> None:
    program = tmp_path / "toolhub_mcp.py"
    program.write_text(copied["MCP"], encoding="utf-8")
    assert json.loads(said(sys.executable, str(program), "try"))["structuredContent"] == {"text": TEXT}
    message = json.loads(copied["MCP message"])["params"]
    server = StdioServerParameters(command=sys.executable, args=[str(program)], env=dict(os.environ))

    async def talk() -> None:
        async with Client(server) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["echo"]
            good = await client.call_tool(message["name"], message["arguments"])
            assert (good.is_error, good.structured_content) == (False, {"text": TEXT})
            bad = await client.call_tool("echo", {"text": 1})
            assert (bad.is_error, bad.structured_content["code"]) == (True, "INVALID_ARGUMENTS")

    anyio.run(talk)
