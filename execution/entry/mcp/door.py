"""Through which door an MCP client came."""

from collections.abc import Mapping
from dataclasses import dataclass

from security.principals import PersonaPrincipal


@dataclass(frozen=True)
class Door:
    """Who asks, through which collection (empty: all tools), and the request's headers."""

    principal: PersonaPrincipal
    collection: str
    headers: Mapping[str, str]
