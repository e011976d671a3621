"""The write doors of teams. A team is a group that is no role (security/accounts/roles.py)."""

import re

from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from audit.kinds import EventKind
from audit.ledger import Entry, record
from core.errors import Conflict, InvalidRequest, NotFound
from core.identity import NotPlain, name_normal, twin_of
from security.accounts.roles import NAMES
from security.event_kinds import TEAM_CREATED, TEAM_DELETED, TEAM_JOINED, TEAM_PARTED
from security.models import User
from security.permissions import actor_of, require
from security.sharing.kinds import KINDS

CHANGE = "security.change_user"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


def teams() -> QuerySet[Group]:
    """Every team, by name."""
    return Group.objects.exclude(name__in=NAMES).order_by("name")


def team_get(pk: int) -> Group:
    """Raises NotFound."""
    team = teams().filter(pk=pk).first()
    if team is None:
        raise NotFound("There is no such team.")
    return team


def team_create(*, by: User, name: str) -> Group:
    """A new team, without members. Raises Denied, InvalidRequest, Conflict."""
    require(by, CHANGE)
    try:
        name = name_normal(name)
    except NotPlain as error:
        raise _wrong("name", f"name: {error}.") from error
    if not _NAME.fullmatch(name):
        raise _wrong("name", "Letters, digits, dots, hyphens and _; a letter or digit first; at most 64.")
    if twin := twin_of(name, Group.objects.values_list("name", flat=True)):
        raise _taken(twin)
    try:
        with transaction.atomic():
            team = Group.objects.create(name=name)
            record(_entry(TEAM_CREATED, by, team))
    except IntegrityError as error:
        raise _taken(name) from error
    return team


def team_join(*, by: User, team: Group, person: User) -> None:
    """Makes a person a member: they reach what the team owns at once. Raises Denied, InvalidRequest."""
    require(by, CHANGE)
    if not person.is_active:
        raise _wrong("person", f"{person.get_username()} has left.")
    with transaction.atomic():
        if not person.groups.filter(pk=team.pk).exists():
            person.groups.add(team)
            record(_entry(TEAM_JOINED, by, team, person=person.get_username()))


def team_part(*, by: User, team: Group, person: User) -> None:
    """Ends a membership; the next request sees it. Raises Denied."""
    require(by, CHANGE)
    with transaction.atomic():
        if person.groups.filter(pk=team.pk).exists():
            person.groups.remove(team)
            record(_entry(TEAM_PARTED, by, team, person=person.get_username()))


def team_holds(team: Group) -> str:
    """What it owns, by number: `2 packages, 1 tool`; nothing where it owns nothing."""
    owned = {name: kind.rows.filter(team=team).count() for name, kind in KINDS.items()}
    return ", ".join(f"{count} {name}{'s' * (count != 1)}" for name, count in owned.items() if count)


def team_delete(*, by: User, team: Group) -> None:
    """Takes a team away, with the rights that it was given. Raises Denied; Conflict while it owns things."""
    require(by, CHANGE)
    with transaction.atomic():
        Group.objects.select_for_update().filter(pk=team.pk).first()
        if held := team_holds(team):
            raise Conflict(
                f"{team.name} owns {held}.",
                suggestions=["Give them to others, or to everybody, first."],
            )
        record(_entry(TEAM_DELETED, by, team))
        team.delete()


def _entry(kind: EventKind, by: User, team: Group, **data: object) -> Entry:
    return Entry(kind, actor_of(by), "team", team.name, {"team": team.name, **data})


def _taken(name: str) -> Conflict:
    message = f"{name} is the name of a {'role' if name in NAMES else 'team'} already."
    return Conflict(message, errors=[{"pointer": "/name", "message": message}])


def _wrong(field: str, message: str) -> InvalidRequest:
    return InvalidRequest(message, errors=[{"pointer": f"/{field}", "message": message}])
