"""The write doors of sharing: which team owns an object, and who was given which right on it."""

from typing import Any

from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import Model, QuerySet
from guardian.shortcuts import assign_perm, remove_perm

from audit.kinds import EventKind
from audit.ledger import Entry, record
from core.errors import Denied, InvalidRequest
from security.models import User
from security.permissions import actor_of, require
from security.sharing.kinds import kind_of
from security.sharing.levels import MANAGE, VIEW
from security.sharing.reach import EVERYTHING, everything, rights_on
from security.sharing.remedies import who_may_share


def team_set(*, by: User, thing: Model, team: Group | None) -> None:
    """Gives an object to a team, or back to everybody. Raises Denied, NotFound.

    From the next request on only its members reach it, whom it is shared with, and admins.
    """
    require(by, EVERYTHING)
    kind = kind_of(thing)
    with transaction.atomic():
        row = kind.rows.select_for_update(of=("self",)).select_related("team").get(pk=thing.pk)
        before = row.team
        if before == team:
            return
        row.team = team
        row.save(update_fields=["team"])
        names = {"before": before.name if before else None, "after": team.name if team else None}
        record(_entry(kind.events.team_set, by, thing, **names))
    thing.team = team  # type: ignore[attr-defined]


def right_give(*, by: User, thing: Model, to: User | Group, level: str) -> None:
    """Gives a person or team a right on one object. Raises Denied, NotFound, InvalidRequest."""
    share_check(by, thing, _level(thing, level))
    if isinstance(to, User) and not to.is_active:
        raise _wrong("to", f"{to.get_username()} has left.")
    with transaction.atomic():
        held = _rows(thing, to).filter(permission__codename=_code(thing, level))
        if held.exists():
            return
        assign_perm(_permission(thing, level), to, thing)
        record(_entry(kind_of(thing).events.right_given, by, thing, right=level, **_named(to)))


def right_take(*, by: User, thing: Model, to: User | Group, level: str) -> None:
    """Takes such a right back; the next request sees it. Raises Denied, NotFound, InvalidRequest."""
    share_check(by, thing, _level(thing, level))
    with transaction.atomic():
        if _rows(thing, to).filter(permission__codename=_code(thing, level)).exists():
            remove_perm(_permission(thing, level), to, thing)
            record(_entry(kind_of(thing).events.right_taken, by, thing, right=level, **_named(to)))


def may_share(by: User, thing: Model, level: str = VIEW) -> bool:
    """Whether the person may give and take this right on the object: nobody gives what they do not have."""
    if everything(by):
        return True
    levels = rights_on(by, thing).levels
    return MANAGE in levels and (level == VIEW or level in levels)


def share_check(by: User, thing: Model, level: str) -> None:
    """Raises Denied unless the person may; NotFound where they do not see the object."""
    require(by, kind_of(thing).view, thing)
    if not may_share(by, thing, level):
        raise Denied(
            f"{by.get_username()} does not share {thing}, or not with the right to {level}: "
            "that takes the right to manage it, and the right that is given.",
            suggestions=[f"Ask {who_may_share(thing)}."],
        )


def _rows(thing: Model, to: User | Group) -> QuerySet[Any]:
    kind = kind_of(thing)
    if isinstance(to, User):
        return kind.people._default_manager.filter(content_object=thing.pk, user=to)
    return kind.teams._default_manager.filter(content_object=thing.pk, group=to)


def _code(thing: Model, level: str) -> str:
    return f"{level}_{kind_of(thing).name}"


def _permission(thing: Model, level: str) -> str:
    return f"{thing._meta.app_label}.{_code(thing, level)}"


def _named(to: User | Group) -> dict[str, str]:
    return {"person": to.get_username()} if isinstance(to, User) else {"team": to.name}


def _level(thing: Model, level: str) -> str:
    levels = kind_of(thing).levels
    if level not in levels:
        raise _wrong("level", f"One of {', '.join(levels)}.")
    return level


def _entry(event: EventKind, by: User, thing: Model, **data: object) -> Entry:
    kind = kind_of(thing)
    said = {kind.name: str(thing), **data}
    return Entry(event, actor_of(by), kind.name, kind.said(thing), said)


def _wrong(field: str, message: str) -> InvalidRequest:
    return InvalidRequest(message, errors=[{"pointer": f"/{field}", "message": message}])
