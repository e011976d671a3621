"""The same call in the forms in which people copy it: a command line, Python, and MCP."""

import pprint
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from registry.curl import curl_line

CLIENT_NOTE = (
    "For an MCP client's settings: all tools of the token's persona, by Streamable HTTP. A client that reads "
    "no variables is given the token itself in place of ${TOKEN}."
)
MESSAGE_NOTE = "What an MCP client posts to /mcp for this call."


@dataclass(frozen=True)
class Snippet:
    """A call to copy: the name of its form, the text, and what to do with it where that is not plain."""

    name: str
    text: str
    note: str = ""


def snippets(
    public_url: str, tool: str, arguments: Mapping[str, Any], more: Mapping[str, Any] | None = None
) -> list[Snippet]:
    """The call with these arguments, and with further members of its body where a form has them.

    A token is read from the variable TOKEN, and stands in none of them.
    """
    return [
        Snippet("curl", curl_line(public_url, tool, arguments, more=more)),
        Snippet("Python", python_lines(public_url, tool, arguments, more)),
        Snippet("MCP", mcp_settings(public_url), CLIENT_NOTE),
        Snippet("MCP message", mcp_message(tool, arguments), MESSAGE_NOTE),
    ]


def python_lines(
    public_url: str, tool: str, arguments: Mapping[str, Any], more: Mapping[str, Any] | None = None
) -> str:
    """A program that makes the call with the package httpx and prints the result."""
    address = f"{public_url.rstrip('/')}/api/v1/tools/{tool}/execute"
    shown = pprint.pformat({"arguments": arguments, **(more or {})}, width=88, sort_dicts=False)
    return (
        "import os\n\nimport httpx\n\n"
        f"call = {shown}\n"
        f"answer = httpx.post(\n    {address!r},\n"
        '    headers={"Authorization": f"Bearer {os.environ[\'TOKEN\']}"},\n'
        "    json=call,\n    timeout=60,\n)\n"
        "print(answer.json())\n"
    )


def mcp_settings(public_url: str) -> str:
    """The hub as an MCP client has its servers in its settings, a JSON object of `mcpServers`."""
    server = {
        "type": "http",
        "url": f"{public_url.rstrip('/')}/mcp",
        "headers": {"Authorization": "Bearer ${TOKEN}"},
    }
    return orjson.dumps({"mcpServers": {"toolhub": server}}, option=orjson.OPT_INDENT_2).decode()


def mcp_message(tool: str, arguments: Mapping[str, Any]) -> str:
    """The request `tools/call` of the Model Context Protocol, as a client sends it (JSON-RPC 2.0)."""
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return orjson.dumps(message, option=orjson.OPT_INDENT_2).decode()
