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


_TASK_SUPPORT = ("forbidden", "optional", "required")
_THEMES = ("dark", "light")


def mcp_tool(definition: Mapping[str, Any]) -> Converted:
    """MCP's Tool: the definition without the hub's contract.

    Results that are no object come under `result`, since a part of the clients takes objects only.
    """
    tool = {name: definition[name] for name in _MEMBERS if definition.get(name) is not None}
    if tool["inputSchema"].get("type") != "object":
        raise UnfitError("The schema's root is no object.")
    changes: list[Change] = []
    _extras_fit(tool, changes)
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


def _extras_fit(tool: dict[str, Any], changes: list[Change]) -> None:
    """Leaves out icons and task support that MCP does not know: one would break its client's whole list."""
    if "icons" in tool:
        icons = [icon for icon in map(_icon, tool["icons"]) if icon is not None]
        if len(icons) < len(tool["icons"]):
            changes.append(Change("/icons", "Left out: an icon needs `src`, and members as MCP has them."))
        tool["icons"] = icons
    if "execution" in tool:
        support = tool["execution"].get("taskSupport")
        tool["execution"] = {"taskSupport": support} if support in _TASK_SUPPORT else {}
        if support not in (None, *_TASK_SUPPORT):
            message = f"Left out: it is one of {', '.join(_TASK_SUPPORT)}."
            changes.append(Change("/execution/taskSupport", message))


def _icon(given: Mapping[str, Any]) -> dict[str, Any] | None:
    """The icon as MCP has it; None where it has another form."""
    icon = {
        name: given[name] for name in ("src", "mimeType", "sizes", "theme") if given.get(name) is not None
    }
    sizes = icon.get("sizes", [])
    fits = (
        isinstance(icon.get("src"), str)
        and isinstance(icon.get("mimeType", ""), str)
        and isinstance(sizes, list)
        and all(isinstance(size, str) for size in sizes)
        and icon.get("theme", _THEMES[0]) in _THEMES
    )
    return icon if fits else None
