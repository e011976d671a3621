"""DRF's authentication of agents by bearer token, and what it takes beside a valid one."""

from typing import Any

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from security.acting import active_check
from security.principals import PersonaPrincipal
from security.tokens import principal_find


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer thp_…`; `request.user` becomes a PersonaPrincipal.

    401 for a missing, unknown, expired or revoked token, each with its reason.
    """

    def authenticate(self, request: Request) -> tuple[PersonaPrincipal, Any] | None:
        principal = principal_read(request.META.get("HTTP_AUTHORIZATION", ""))
        return None if principal is None else (principal, None)

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="toolhub"'


class IsActive(BasePermission):
    """Who has a valid token, a persona that is switched on, and a person who answers for it.

    A view that tells an agent why it may call nothing says `explains`: a valid token is enough there.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        # DRF's stubs know Django's users only.
        by: object = request.user
        if not isinstance(by, PersonaPrincipal):
            return False
        if not getattr(view, "explains", False):
            active_check(by)
        return True


def caller_anew(request: Request) -> PersonaPrincipal:
    """Who asked, as it stands after a wait: what has ended meanwhile hears no more.

    Raises AuthenticationFailed, Denied.
    """
    principal = principal_read(request.META.get("HTTP_AUTHORIZATION", ""))
    if principal is None:
        raise NotAuthenticated
    active_check(principal)
    return principal


def principal_read(header: str) -> PersonaPrincipal | None:
    """The principal of an Authorization header; None without one. Raises AuthenticationFailed."""
    if not header:
        return None
    scheme, _, text = header.partition(" ")
    if scheme.lower() != "bearer":
        raise AuthenticationFailed("The Authorization header must be `Bearer` and a token.")
    found = principal_find(text.strip())
    if found is None:
        raise AuthenticationFailed("The token is not known.")
    principal, state = found
    if state != "valid":
        raise AuthenticationFailed(f"The token is {state}. Ask {principal.responsible} for a new one.")
    return principal
