"""The second factor of people: TOTP by allauth, its secrets sealed, its changes on record."""

from typing import Any

from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_removed, authenticator_reset
from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction
from django.db.models.signals import post_save

from audit.kinds import EventKind
from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import Conflict, Denied
from security.accounts.notices import notice_owe
from security.accounts.sessions import sessions_end
from security.event_kinds import SECOND_FACTOR_ADDED, SECOND_FACTOR_REMOVED, SECOND_FACTOR_RESET
from security.models import User
from security.permissions import actor_of, require
from security.sealing import Unsealable, reseal, seal, unseal

CHANGE = "security.change_user"
_SEALED = ("secret", "seed")
_KINDS = {
    authenticator_removed: SECOND_FACTOR_REMOVED,
    authenticator_reset: SECOND_FACTOR_RESET,
}


class SealedAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Keeps the secrets of authenticators sealed, and names people by their names."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": "This code does not fit. Write what the app shows now; its clock has to be right.",
    }

    def encrypt(self, text: str) -> str:
        return seal(text.encode())

    def decrypt(self, encrypted_text: str) -> str:
        return unseal(encrypted_text).decode()

    def get_totp_label(self, user: AbstractBaseUser) -> str:
        return user.get_username()


def has_second_factor(person: User) -> bool:
    """Whether the person signs in with a code, too."""
    return bool(Authenticator.objects.filter(user=person, type=Authenticator.Type.TOTP).exists())


def second_factor_remove(*, by: User, person: User) -> None:
    """Takes the second factor, and the codes to recover by, of who lost theirs. Raises Denied, Conflict."""
    require(by, CHANGE)
    if person.is_superuser and not by.is_superuser:
        raise Denied(f"{person.get_username()} stands above all roles: only such a person may.")
    with transaction.atomic():
        deleted, _ = Authenticator.objects.filter(user=person).delete()
        if not deleted:
            raise Conflict(f"{person.get_username()} has no second factor.")
        record(_entry(SECOND_FACTOR_REMOVED, actor_of(by), person))
        sessions_end(person, by=by, why="the second factor was taken away")
        notice_owe(person, f"{by.get_username()} took the second factor of your account away.")


def second_factors_reseal() -> tuple[int, list[str]]:
    """Seals the secrets of all authenticators under the newest key: how many, and those that no key opens."""
    done, unread = 0, []
    for row in Authenticator.objects.select_for_update().order_by("pk"):
        try:
            sealed = {name: reseal(row.data[name]) for name in _SEALED if name in row.data}
        except Unsealable:
            unread.append(f"second factor of {row.user_id}")
            continue
        Authenticator.objects.filter(pk=row.pk).update(data={**row.data, **sealed})
        done += 1
    return done, unread


def records_connect() -> None:
    """Puts each change into the ledger; called when Django starts."""
    # allauth tells of a new one only after the commit.
    post_save.connect(_added, sender=Authenticator, dispatch_uid="second_factor_added")
    for signal, kind in _KINDS.items():
        signal.connect(_recorder(kind), weak=False, dispatch_uid=kind.name)


def _added(instance: Authenticator, created: bool, **_: Any) -> None:
    if created:
        person = instance.user
        with transaction.atomic():
            record(_entry(SECOND_FACTOR_ADDED, actor_of(person), person, type=str(instance.type)))
            _others_end(person, instance)


def _others_end(person: User, authenticator: Authenticator) -> None:
    """Whoever signed in before the ways to sign in changed does so again; not who changes them."""
    if authenticator.type == Authenticator.Type.TOTP:
        notice_owe(person, "a second factor was added to your account, or taken from it.")
        sessions_end(person, by=person, why="the second factor changed", keep=context.request)


def _recorder(kind: EventKind) -> Any:
    def told(user: User, authenticator: Authenticator, **_: Any) -> None:
        with transaction.atomic():
            record(_entry(kind, actor_of(user), user, type=str(authenticator.type)))
            _others_end(user, authenticator)

    return told


def _entry(kind: EventKind, actor: Actor, person: User, **data: str) -> Entry:
    return Entry(kind, actor, "person", str(person.pk), {"person": person.get_username(), **data})
