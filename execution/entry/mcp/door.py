"""Through which door an MCP client came."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.http.request import HttpHeaders

from security.principals import PersonaPrincipal


@dataclass(frozen=True)
class Door:
    """Who asks, through which collection (empty: all tools), and the request's WSGI environment."""

    principal: PersonaPrincipal
    collection: str
    meta: Mapping[str, str]

    @property
    def headers(self) -> Mapping[str, str]:
        """The request's headers by their own names, in any case."""
        return HttpHeaders(self.meta)
