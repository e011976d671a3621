"""How people sign in elsewhere, as the settings say."""

from dataclasses import dataclass

from django.conf import settings

from core.errors import Denied


def pair_read(text: str) -> tuple[str, str]:
    """A group at the provider and a role here: `tool-admins=admin`. Raises ValueError."""
    group, sign, role = (part.strip() for part in text.rpartition("="))
    if not (group and sign and role):
        raise ValueError(f"{text} is no pair such as staff=viewer")
    return group, role


@dataclass(frozen=True)
class Options:
    """The provider, what it knows the hub by, and what follows from what it says of a person.

    `issuer` is its address, exactly as it writes it. `domains` are those that a verified e-mail address has
    to be in; empty: any, or none at all. `roles` are pairs of a group at the provider and a role here, and
    `groups_claim` is where the groups stand. `join` lets who is unknown here come by themselves; `link_email`
    takes who comes for the first time for the person with the same verified address.
    """

    issuer: str
    client_id: str
    client_secret: str = ""
    label: str = "single sign-on"
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    domains: tuple[str, ...] = ()
    groups_claim: str = "groups"
    roles: tuple[tuple[str, str], ...] = ()
    join: bool = False
    link_email: bool = False


def options_now() -> Options:
    """The options of the provider that is set up. Raises Denied where none is."""
    found: Options | None = settings.OIDC
    if found is None:
        raise Denied("No provider is set up to sign in at.")
    return found
