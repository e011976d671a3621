"""What an MCP client may ask of the hub: who it is, the caller's tools, and a call."""

from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings

from execution.entry.mcp.calls import tool_call
from execution.entry.mcp.door import Door
from execution.entry.mcp.protocol import HANDSHAKE_VERSIONS, MODERN_VERSIONS
from registry.api import tools_page
from registry.filters import ToolFilter
from registry.formats import tools_converted

Params = Mapping[str, Any]
# Each gives its result in the form of the revision; test_reader.py compares it with the official types'.
Method = Callable[[Door, str, Params], dict[str, Any]]

# For this long a client need not ask for the list again (row 22c: a new tool is there within 5 s).
LIST_TTL_MS = 5000
_COMPLETE = {"resultType": "complete", "ttlMs": LIST_TTL_MS, "cacheScope": "private"}
WARNINGS = "io.toolhub/warnings"
REASON = "io.toolhub/reason"


def _about(door: Door) -> dict[str, Any]:
    which = f" of the collection {door.collection}" if door.collection else ""
    return {
        "capabilities": {"tools": {}},
        "instructions": (
            f"The tools{which} that the persona {door.principal.persona} may see on this ToolHub. "
            "Each call is checked and recorded; what is refused says why, and who can change it."
        ),
    }


def _server() -> dict[str, str]:
    return {"name": "toolhub", "title": "ToolHub", "version": settings.VERSION}


def initialize(door: Door, version: str, params: Params) -> dict[str, Any]:
    """The handshake of the eras with sessions; the hub keeps none."""
    return {**_about(door), "protocolVersion": version, "serverInfo": _server()}


def ping(door: Door, version: str, params: Params) -> dict[str, Any]:
    """Nothing: that there is an answer says all."""
    return {}


def discover(door: Door, version: str, params: Params) -> dict[str, Any]:
    """What a client learns in place of a handshake."""
    return {
        **_about(door),
        "supportedVersions": [*MODERN_VERSIONS, *HANDSHAKE_VERSIONS],
        "_meta": {"io.modelcontextprotocol/serverInfo": _server()},
        **_COMPLETE,
    }


def tools_list(door: Door, version: str, params: Params) -> dict[str, Any]:
    """A page of the caller's tools by name. What has no form in MCP is left out, with a warning."""
    page = tools_page(door.principal, ToolFilter(collection=door.collection), params.get("cursor"))
    found = tools_converted("mcp", page.versions)
    meta = {WARNINGS: found["warnings"]} if found["warnings"] else {}
    if page.reason:
        meta[REASON] = page.reason
    listed = {
        "tools": found["tools"],
        **({"nextCursor": page.next} if page.next else {}),
        **({"_meta": meta} if meta else {}),
    }
    if version not in MODERN_VERSIONS:
        return listed
    # That revision has no tasks, and so nothing to say of them.
    tools = [{name: each[name] for name in each if name != "execution"} for each in listed["tools"]]
    return {**listed, "tools": tools, **_COMPLETE}


METHODS: Mapping[str, Method] = {
    "initialize": initialize,
    "ping": ping,
    "server/discover": discover,
    "tools/list": tools_list,
    "tools/call": tool_call,
}
