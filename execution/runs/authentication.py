"""The execute call's authentication: caller and tool by one query where that is served."""

from rest_framework.exceptions import NotAuthenticated

from execution.engine.store import current
from execution.engine.store.interface import Known
from registry.selectors import ResolvedTool
from security.authentication import principal_read
from security.principals import PersonaPrincipal


def caller_read(header: str, name: str) -> tuple[PersonaPrincipal, ResolvedTool | None]:
    """Who calls by an Authorization header, and the tool of that name where it was read along.

    A call that names another version in its body is resolved again by `run_submit`. Raises NotAuthenticated
    and AuthenticationFailed, as TokenAuthentication does, whose way is taken by whatever is unusual.
    """
    if found := current.STORE.caller_read(_token(header), name):
        return found
    principal = principal_read(header)
    if principal is None:
        raise NotAuthenticated
    return principal, None


def caller_kept(header: str, name: str) -> Known | None:
    """The same by what this process read before, with what has to hold yet when the call is written."""
    return current.STORE.caller_known(_token(header), name)


def _token(header: str) -> str:
    scheme, _, text = header.partition(" ")
    return text.strip() if scheme.lower() == "bearer" else ""
