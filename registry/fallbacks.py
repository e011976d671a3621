"""Fallbacks of tools that are published: each chain of them ends, and is not long."""

from collections.abc import Mapping
from typing import Any

from core.errors import InvalidRequest
from registry.models import Tool
from toolhub_sdk.checks.recovery import fallback_of

# As deep as runs may follow from each other.
CHAIN_MAX = 8


def fallbacks_check(tools: Mapping[str, Mapping[str, Any]]) -> None:
    """Raises InvalidRequest (INVALID_MANIFEST) where tools, their names → definitions, close a circle of
    fallbacks with those in use, or make a chain of more than 8. One that is not there is no fault.
    """
    for name in tools:
        way = [name]
        while (following := fallback_of(tools.get(way[-1]) or _in_use(way[-1]))) is not None:
            circle = following in way
            way.append(following)
            if circle or len(way) > CHAIN_MAX:
                why = "go round in a circle" if circle else f"are more than {CHAIN_MAX} tools"
                message = f"Fallbacks {why}: {' → '.join(way)}."
                ways = ["Name a fallbackTool that ends the chain."]
                raise InvalidRequest(message, code="INVALID_MANIFEST", suggestions=ways)


def _in_use(name: str) -> Mapping[str, Any]:
    tool = Tool.objects.filter(name=name, active__isnull=False).select_related("active").first()
    return tool.active.definition if tool and tool.active else {}
