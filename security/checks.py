"""What is wrong with the settings that only the models know."""

from typing import Any

from django.conf import settings
from django.core.checks import Error, register

from security.accounts.roles import NAMES


@register()
def oidc_roles_check(**_: Any) -> list[Error]:
    """Groups at the provider give roles that there are."""
    roles = settings.OIDC.roles if settings.OIDC else ()
    return [
        Error(f"TOOLHUB_OIDC_ROLES: there is no role {role!r}.", hint=f"Write one of {', '.join(NAMES)}.")
        for _, role in roles
        if role not in NAMES
    ]
