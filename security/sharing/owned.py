"""What is counted by the teams that own it: whose numbers a person may add up, and what they see beyond."""

from typing import Any

from django.db.models import CharField, Q, QuerySet, Value
from django.db.models.functions import Cast

from audit.models import Event
from security.models import User
from security.sharing.kinds import KINDS
from security.sharing.reach import given, given_to, team_ids


def owner_changes() -> QuerySet[Event]:
    """Each time that an object became a team's or everybody's: what was counted by owners before is old."""
    return Event.objects.filter(kind__in=[f"{name}.team_set" for name in KINDS])


def owned_within(person: User, persona: str, *tool: str) -> Q:
    """What is nobody's and what the person's teams own: by columns with the teams of a persona, and of a tool
    and what it is a part of. What they see who hold a permission for the hub, but for rights that were given.
    """
    mine = team_ids(person)
    personas = Q(**{f"{persona}__isnull": True}) | Q(**{f"{persona}__in": mine})
    tools = Q(*(Q(**{f"{column}__isnull": True}) for column in tool))
    for column in tool:
        tools |= Q(**{f"{column}__in": mine})
    return personas & tools


def given_beyond(person: User, *names: str) -> dict[str, list[str]]:
    """By kind the keys, as text, of what other teams own and the person was given a right on. One query."""
    found: dict[str, list[str]] = {name: [] for name in names}
    if not given(person):
        return found
    parts: list[QuerySet[Any]] = []
    for name in names:
        kind = KINDS[name]
        owners = ["team", *([f"{kind.parent}__team"] if kind.parent else [])]
        kept = kind.rows.order_by().exclude(Q(*(Q(**{f"{column}__isnull": True}) for column in owners)))
        for column in owners:
            kept = kept.exclude(**{f"{column}__in": team_ids(person)})
        for one, column in ((kind, "pk"), *([(KINDS[kind.parent], kind.parent)] if kind.parent else [])):
            for rights in given_to(person, one):
                theirs = kept.filter(**{f"{column}__in": rights.values("content_object")})
                parts.append(theirs.values_list(Value(name), Cast(kind.key, CharField())))
    for name, key in parts[0].union(*parts[1:]):
        found[name].append(key)
    return found
