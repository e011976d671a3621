"""How the API's description names our authentication."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A persona's bearer token. Registered by being imported (toolhub/urls.py)."""

    target_class = "security.authentication.TokenAuthentication"
    match_subclasses = True
    name = "personaToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A persona's token, `thp_…`."}
