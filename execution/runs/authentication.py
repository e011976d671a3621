"""The execute call's authentication: caller and tool by one query where that is served."""

from rest_framework.request import Request

from execution.runs import hotpath
from registry.selectors import ResolvedTool
from security.authentication import TokenAuthentication
from security.principals import PersonaPrincipal


class CallAuthentication(TokenAuthentication):
    """As TokenAuthentication; `request.auth` is the tool that the address names when it was read along.

    A call that names another version in its body is resolved again by `run_submit`.
    """

    def authenticate(self, request: Request) -> tuple[PersonaPrincipal, ResolvedTool | None] | None:
        """Raises AuthenticationFailed like its parent, which answers whatever is unusual."""
        if hotpath.is_served():
            scheme, _, text = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
            name = request.parser_context["kwargs"]["name"]
            found = hotpath.facts_read(text.strip(), name) if scheme.lower() == "bearer" else None
            if found:
                return found
        return super().authenticate(request)
