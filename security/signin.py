"""Sign-in rules for allauth."""

import time
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import get_authentication_records
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest

from audit.ledger import Entry, record
from core.identity import NotPlain, name_normal
from security.accounts.sessions import SEEN
from security.event_kinds import PERSON_SIGNED_IN
from security.guessing.devices import device_remember
from security.guessing.guard import password_try
from security.models import User
from security.permissions import actor_of


def password_counts(person: User) -> bool:
    """Whether a person may sign in by a password of the hub: who stands above all roles always may, so that a
    provider that is away locks nobody out for good.
    """
    return bool(settings.PASSWORDS or person.is_superuser)


def _name(text: str) -> str:
    """The normal form of a name; empty where there is none: allauth would fold it by Unicode."""
    try:
        return name_normal(text)
    except NotPlain:
        return ""


class ClosedAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Nobody signs up by themselves: admins make accounts. Each sign-in is on record, or is none."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Return the person whose password it is, or None.

        Raises ValidationError where the try has to wait, and for the right password where none counts.
        """
        name = _name(credentials.get("username", ""))
        known = User.objects.filter(username=name).first() if name else None
        taken = password_try(request, name, known)
        person: User | None = super().authenticate(request, **{**credentials, "username": name})
        if person is not None:
            taken.right()
        if person is not None and not password_counts(person):
            label = settings.OIDC.label if settings.OIDC else "the provider"
            raise ValidationError(f"Passwords are switched off here. Sign in with {label}.")
        return person

    def login(self, request: HttpRequest, user: User) -> None:
        """Signs in, after all steps; on record with the ways and the address."""
        ways = [str(one.get("method")) for one in get_authentication_records(request, user)]
        said = {"person": user.get_username(), "how": ways, "address": self.get_client_ip(request)}
        with transaction.atomic():
            record(Entry(PERSON_SIGNED_IN, actor_of(user), "person", str(user.pk), said))
            super().login(request, user)
        request.session[SEEN] = time.time()
        device_remember(request, user)
