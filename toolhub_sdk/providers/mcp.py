"""Tools for clients of the Model Context Protocol."""

from collections.abc import Mapping
from typing import Any

from toolhub_sdk.package import CONTRACT
from toolhub_sdk.providers.conversion import Change, Converted, UnfitError

_MEMBERS = (
    "name",
    "title",
    "description",
    "icons",
    "inputSchema",
    "outputSchema",
    "annotations",
    "execution",
)


def mcp_tool(definition: Mapping[str, Any]) -> Converted:
    """MCP's Tool: the definition without the hub's contract.

    Results that are no object come under `result`, since a part of the clients takes objects only.
    """
    tool = {name: definition[name] for name in _MEMBERS if definition.get(name) is not None}
    if tool["inputSchema"].get("type") != "object":
        raise UnfitError("The schema's root is no object.")
    changes = []
    output = tool.get("outputSchema")
    if output is not None and output.get("type") != "object":
        inner = {name: value for name, value in output.items() if name != "$schema"}
        dialect = {"$schema": output["$schema"]} if "$schema" in output else {}
        wrapped = {"type": "object", "properties": {"result": inner}, "required": ["result"]}
        tool["outputSchema"] = {**dialect, **wrapped}
        changes.append(Change("/outputSchema", "Wrapped: the result comes as the member `result`."))
        if "$ref" in str(inner):
            del tool["outputSchema"]
            changes.append(Change("/outputSchema", "Left out: it refers to itself."))
    meta = {name: value for name, value in definition.get("_meta", {}).items() if name != CONTRACT}
    return Converted({**tool, **({"_meta": meta} if meta else {})}, tuple(changes))
