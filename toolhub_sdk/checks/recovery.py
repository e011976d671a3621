"""What no schema says of a contract's recovery: which members belong together, and that fallbacks end."""

from collections.abc import Iterator, Mapping
from typing import Any

from toolhub_sdk.package import CONTRACT
from toolhub_sdk.problem import Problem, pointer

_LEAVE = "Leave it out, or change the type."


def recovery_problems(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with the recovery of a manifest's tools, whose form is right."""
    own = {tool["name"]: _recovery(tool) for tool in manifest["tools"]}
    for index, tool in enumerate(manifest["tools"]):
        at = pointer(["tools", index, "_meta", CONTRACT, "recovery"])
        recovery = _recovery(tool)
        if not recovery:
            continue
        kind = recovery["type"]
        for name, needed in (("fallbackTool", "fallback"), ("escalation", "manual")):
            if name in recovery and kind != needed:
                yield Problem(f"{at}/{name}", f"There is no {name} with {kind}, only with {needed}.", _LEAVE)
        if kind == "retry" and "maxAttempts" not in recovery:
            message = "maxAttempts is missing."
            yield Problem(f"{at}/maxAttempts", message, "Add how many attempts there are in all.")
        if circle := _circle(tool["name"], own):
            message = f"Fallbacks go round in a circle: {' → '.join(circle)}."
            yield Problem(f"{at}/fallbackTool", message, "Name a tool that ends the chain.")


def fallback_of(definition: Mapping[str, Any]) -> str | None:
    """The tool that is called in the place of one that failed."""
    return _recovery(definition).get("fallbackTool")


def _recovery(definition: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = definition.get("_meta", {}).get(CONTRACT, {}).get("recovery", {})
    return found


def _circle(name: str, own: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The names from one tool back to itself; empty where there is no such way within the package."""
    way = [name]
    while (following := own.get(way[-1], {}).get("fallbackTool")) is not None:
        if following == name:
            return [*way, name]
        if following in way:
            return []
        way.append(following)
    return []
