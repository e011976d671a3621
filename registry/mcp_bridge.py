"""A program to copy: it brings a persona's tools to MCP clients as long as the hub itself has no `/mcp`."""

import pprint
from collections.abc import Mapping
from string import Template
from typing import Any

BRIDGE = Template('''\
# /// script
# dependencies = ["httpx>=0.27", "mcp>=2,<3"]
# ///
"""ToolHub for MCP clients: the tools of the persona whose token is in TOKEN, over stdio.

uv run toolhub_mcp.py try    makes the call below by itself
uv run toolhub_mcp.py        is the server; a client that is set up by JSON starts it by
{"mcpServers": {"toolhub": {
  "command": "uv", "args": ["run", "/path/to/toolhub_mcp.py"], "env": {"TOKEN": "thp_..."}}}}
"""

import asyncio
import json
import os
import sys

import httpx
import mcp_types
from mcp import Client
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

hub = httpx.AsyncClient(
    base_url=$address,
    headers={"Authorization": f"Bearer {os.environ['TOKEN']}"},
    timeout=60,
)


async def list_tools(_context, asked):
    page = await hub.get("tools", params={"format": "mcp", "after": (asked and asked.cursor) or ""})
    page.raise_for_status()
    found = page.json()
    return mcp_types.ListToolsResult(tools=found["tools"], next_cursor=found.get("next"))


async def call_tool(_context, call):
    answer = await hub.post(f"tools/{call.name}/execute", json={"arguments": call.arguments or {}})
    result = answer.json()
    said = result.get("error") or result.get("data")
    return mcp_types.CallToolResult(
        content=[mcp_types.TextContent(type="text", text=json.dumps(said, ensure_ascii=False))],
        structured_content=said if isinstance(said, dict) else None,
        is_error=bool(result.get("error")),
    )


server = Server("toolhub", on_list_tools=list_tools, on_call_tool=call_tool)


async def serve():
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


async def try_once():
    arguments = $arguments
    async with Client(server) as client:
        result = await client.call_tool($tool, arguments)
        print(result.model_dump_json(indent=2, by_alias=True, exclude_none=True))


asyncio.run(try_once() if sys.argv[1:] == ["try"] else serve())
''')


def bridge_program(public_url: str, tool: str, arguments: Mapping[str, Any]) -> str:
    """The program, with this call as the one that it tries. The token stands in the variable TOKEN alone."""
    return BRIDGE.substitute(
        address=repr(f"{public_url.rstrip('/')}/api/v1/"),
        tool=repr(tool),
        arguments=pprint.pformat(dict(arguments), width=84, sort_dicts=False).replace("\n", "\n    "),
    )
