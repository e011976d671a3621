"""What is counted by the teams that own it: whose numbers a person may add up, and what they see beyond."""

import functools
from typing import Any

from django.db import connection
from django.db.models import CharField, Q, QuerySet, Value
from django.db.models.functions import Cast

from audit.models import Event
from core.named import Statement, statement
from security.models import User
from security.sharing.kinds import KINDS
from security.sharing.levels import VIEW
from security.sharing.reach import Own, known, own_by


def owner_changes() -> QuerySet[Event]:
    """Each time that an object became a team's or everybody's: what was counted by owners before is old."""
    return Event.objects.filter(kind__in=[f"{name}.team_set" for name in KINDS])


def owned_within(person: User, persona: str, *tool: str) -> Q:
    """What is nobody's and what the person's teams own: by columns with the teams of a persona, and of a tool
    and what it is a part of. What they see who hold a permission for the hub, but for rights that were given.
    """
    mine = known(person).teams
    personas = Q(**{f"{persona}__isnull": True}) | Q(**{f"{persona}__in": mine})
    tools = Q(*(Q(**{f"{column}__isnull": True}) for column in tool))
    for column in tool:
        tools |= Q(**{f"{column}__in": mine})
    return personas & tools


def given_beyond(person: User, *names: str) -> dict[str, list[str]]:
    """By kind the keys, as text, of what other teams own and the person was given a right on. One query."""
    found: dict[str, list[str]] = {name: [] for name in names}
    own = own_by(person, VIEW)
    given = {name for name, keys in own.given if keys}
    if given & {*names, *(KINDS[name].parent for name in names)}:
        with connection.cursor() as cursor:
            cursor.execute(*_beyond(own, names))
            for name, key in cursor.fetchall():
                found[name].append(key)
    return found


@functools.lru_cache(maxsize=128)
def _beyond(own: Own, names: tuple[str, ...]) -> Statement:
    """(kind, key) of each."""
    given = dict(own.given)
    parts: list[QuerySet[Any]] = []
    for name in names:
        kind = KINDS[name]
        shared = Q(pk__in=given[name])
        kept = kind.rows.order_by().exclude(team__in=own.teams)
        nobodys = Q(team__isnull=True)
        if kind.parent:
            shared |= Q(**{f"{kind.parent}__in": given[kind.parent]})
            kept = kept.exclude(**{f"{kind.parent}__team__in": own.teams})
            nobodys &= Q(**{f"{kind.parent}__team__isnull": True})
        kept = kept.exclude(nobodys).filter(shared)
        parts.append(kept.values_list(Value(name), Cast(kind.key, CharField())))
    return statement(parts[0].union(*parts[1:]))
