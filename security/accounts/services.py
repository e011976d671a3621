"""The write doors of people: invited, given roles, gone, back."""

import re
from collections.abc import Collection, Sequence

from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction

from audit.kinds import EventKind
from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import Conflict, Denied, InvalidRequest
from core.identity import NotPlain, address_normal, name_normal
from security.accounts.belongings import BELONGINGS, belongings_of
from security.accounts.roles import NAMES
from security.event_kinds import PERSON_INVITED, PERSON_LEFT, PERSON_RETURNED, PERSON_ROLES_SET
from security.models import User
from security.permissions import actor_of, require
from security.two_person_rule import others_with

ADD, CHANGE = "security.add_user", "security.change_user"
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


def person_invite(*, by: User, username: str, email: str = "", roles: Sequence[str] = ()) -> User:
    """A person who cannot sign in before they took up an invitation (invitations.py).

    Raises Denied, InvalidRequest with pointers, Conflict for a name that is taken.
    """
    require(by, ADD)
    username, email = _name_read(username.strip()), _address_read(email.strip())
    groups = _groups(roles)
    try:
        with transaction.atomic():
            person = User(username=username, email=email)
            person.set_unusable_password()
            person.save()
            person.groups.set(groups)
            record(_entry(PERSON_INVITED, by, person, roles=sorted(roles)))
    except IntegrityError as error:
        message = f"There is a person {username} already."
        raise Conflict(message, errors=[{"pointer": "/username", "message": message}]) from error
    return person


def person_roles_set(*, by: User, person: User, roles: Sequence[str]) -> None:
    """Gives a person just these roles; other groups stay. Raises Denied, InvalidRequest, Conflict."""
    require(by, CHANGE)
    may_touch(by, person)
    _roles_write(actor_of(by), person, roles)


def person_roles_follow(
    person: User, *, managed: Collection[str], held: Collection[str], source: str
) -> None:
    """Gives a person just these of the roles that somebody else's groups manage; other roles stay.

    Nobody who stands above all roles is touched, and the last who may change people keeps the role admin.
    """
    if person.is_superuser:
        return
    with transaction.atomic():
        before = set(person.groups.filter(name__in=NAMES).values_list("name", flat=True))
        after = (before - set(managed)) | set(held)
        try:
            _roles_write(Actor("system", "", source), person, sorted(after))
        except Conflict:
            _roles_write(Actor("system", "", source), person, sorted(after | {"admin"}))


def _roles_write(actor: Actor, person: User, roles: Sequence[str]) -> None:
    groups = _groups(roles)
    with transaction.atomic():
        before = sorted(person.groups.filter(name__in=NAMES).values_list("name", flat=True))
        if before == sorted(roles):
            return
        if "admin" in before and "admin" not in roles:
            _last_check(person)
        person.groups.remove(*person.groups.filter(name__in=NAMES))
        person.groups.add(*groups)
        data = {"person": person.get_username(), "before": before, "after": sorted(roles)}
        record(Entry(PERSON_ROLES_SET, actor, "person", str(person.pk), data))


def person_leave(*, by: User, person: User, successor: User | None) -> dict[str, list[str]]:
    """End a person's access at once. Hand over or stop what they answer for; return it as `by` may see it.

    Raises Denied, Conflict for the last who may change people, InvalidRequest for a successor who has left.
    """
    require(by, CHANGE)
    may_touch(by, person)
    if successor is not None and (successor.pk == person.pk or not successor.is_active):
        raise _wrong("successor", "Choose somebody else who can sign in.")
    with transaction.atomic():
        row = User.objects.select_for_update().get(pk=person.pk)
        if not row.is_active:
            raise Conflict(f"{row.get_username()} has left already.")
        _last_check(row)
        theirs = belongings_of(row, by)
        for one in BELONGINGS:
            if successor is not None:
                one.hand_over(row, successor, actor_of(by))
            else:
                one.stop(row, actor_of(by))
        User.objects.filter(pk=row.pk).update(is_active=False)
        to = successor.get_username() if successor else None
        # Each token and schedule has an event of its own, which only those read who may see its persona.
        record(_entry(PERSON_LEFT, by, row, handed_to=to))
    return theirs


def person_return(*, by: User, person: User) -> None:
    """Lets a person sign in again; what was stopped stays stopped. Raises Denied."""
    require(by, CHANGE)
    may_touch(by, person)
    with transaction.atomic():
        if User.objects.filter(pk=person.pk, is_active=False).update(is_active=True):
            record(_entry(PERSON_RETURNED, by, person))


def may_touch(by: User, person: User) -> None:
    """Raises Denied where a role would reach those who stand above all roles."""
    if person.is_superuser and not by.is_superuser:
        raise Denied(f"{person.get_username()} stands above all roles: only such a person may.")


def _last_check(person: User) -> None:
    if person.has_perm(CHANGE) and not others_with(CHANGE, person.pk):
        raise Conflict(
            f"{person.get_username()} is the last who may change people.",
            suggestions=["Give somebody else the role admin first."],
        )


def _name_read(text: str) -> str:
    try:
        name = name_normal(text)
    except NotPlain as error:
        raise _wrong("username", f"username: {error}.") from error
    if not NAME.fullmatch(name) or name == "invite":
        raise _wrong("username", "Letters, digits, dots, hyphens and _; a letter or digit first; at most 64.")
    return name


def _address_read(text: str) -> str:
    try:
        return address_normal(text) if text else ""
    except NotPlain as error:
        raise _wrong("email", f"email: {error}.") from error


def _groups(roles: Sequence[str]) -> list[Group]:
    unknown = sorted(set(roles) - set(NAMES))
    if unknown:
        raise _wrong("roles", f"There is no role {unknown[0][:40]!r}.")
    return list(Group.objects.filter(name__in=roles))


def _entry(kind: EventKind, by: User, person: User, **data: object) -> Entry:
    return Entry(kind, actor_of(by), "person", str(person.pk), {"person": person.get_username(), **data})


def _wrong(field: str, message: str) -> InvalidRequest:
    return InvalidRequest(message, errors=[{"pointer": f"/{field}", "message": message}])
