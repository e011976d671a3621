"""What a person reaches: one rule, asked for lists and for single objects.

An object without a team is everybody's, as far as their roles say. One that a team owns is for its members,
as far as their roles say. Who was given a right on an object has it, whatever the roles. Admins reach all.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import Exists, Model, OuterRef, Q, QuerySet, Value

from security.models import User
from security.sharing.kinds import KINDS, Kind, kind_of
from security.sharing.levels import ENTERED, LEVEL_OF, VIEW

EVERYTHING = "security.reach_everything"
_KEPT = "kept"
Row = TypeVar("Row", bound=Model)


def everything(person: User) -> bool:
    """Whether nothing is kept from the person."""
    return person.has_perm(EVERYTHING)


def within(person: User, rows: QuerySet[Row], permission: str) -> QuerySet[Row]:
    """Those of a kind's rows on which the person holds the permission."""
    kind = next(kind for kind in KINDS.values() if kind.model is rows.model)
    return rows if sees_all(person, permission) else rows.filter(_allowed(person, kind, permission))


def about(person: User, rows: QuerySet[Row], permission: str, **columns: str) -> QuerySet[Row]:
    """Rows that name objects: those where the person holds the permission on each object that is named.

    `columns` says by kind which column names it: `tool="tool", persona="persona"`. A null names none.
    """
    if sees_all(person, permission):
        return rows
    hub = person.has_perm(permission)
    for name, column in columns.items():
        kind = KINDS[name]
        if hub:
            for kept in _kept(person, kind, LEVEL_OF.get(permission, "")):
                rows = rows.exclude(Exists(kept.filter(**{kind.key: OuterRef(column)})))
        else:
            reached = kind.rows.filter(_allowed(person, kind, permission))
            named = Q(**{f"{column}__in": reached.values(kind.key)})
            rows = rows.filter(named | Q(**{f"{column}__isnull": True}))
    return rows


def kept_from(person: User) -> dict[str, list[QuerySet[Any]]]:
    """By kind, what teams keep from the person, whatever the roles: all that any of the statements finds.

    Empty where none is kept.
    """
    if everything(person) or _KEPT not in _known(person):
        return {}
    return {kind.name: _kept(person, kind, VIEW) for kind in KINDS.values()}


@dataclass(frozen=True)
class Rights:
    """What counts for one person on one object: whether it is kept, and what the person has there."""

    person: User
    kept: bool
    member: bool
    levels: frozenset[str]

    def allows(self, permission: str) -> bool:
        """Whether the person holds the permission on the object."""
        if self.person.has_perm(permission) and (self.member or not self.kept or everything(self.person)):
            return True
        return self.given(LEVEL_OF.get(permission, ""))

    def given(self, level: str) -> bool:
        """Whether the person was given the right on the object, alone or with a team."""
        return bool(self.levels) if level == VIEW else level in self.levels


def rights_on(person: User, thing: Model) -> Rights:
    """At most three queries; none on what is nobody's for who reaches everything."""
    teams = {team for _, one in with_parents(thing) if (team := one.team_id)}
    if not person.is_active:
        return Rights(person, bool(teams), member=False, levels=frozenset())
    free = everything(person)
    member = bool(teams) and not free and not teams.isdisjoint(team_ids(person))
    levels = frozenset[str]() if free or not given(person) else _levels(person, thing)
    return Rights(person, bool(teams), member, levels)


def may(person: User, permission: str, *things: Model) -> bool:
    """Whether the person holds the permission on each of the objects; for the hub where there is none."""
    if not things:
        return person.has_perm(permission)
    return all(rights_on(person, thing).allows(permission) for thing in things)


def holds(person: User, permission: str) -> bool:
    """Whether a page about such objects is there for the person: for the hub, or for some object alone."""
    if person.has_perm(permission):
        return True
    if permission not in ENTERED or not person.is_active:
        return False
    levels = given(person)
    return bool(levels) if LEVEL_OF[permission] == VIEW else LEVEL_OF[permission] in levels


def given(person: User) -> frozenset[str]:
    """The rights that the person was given on some object, alone or with a team."""
    return _known(person) - {_KEPT}


def sees_all(person: User, permission: str) -> bool:
    """Whether the person holds the permission on each object; most hubs keep none from anybody."""
    return person.has_perm(permission) and (everything(person) or _KEPT not in _known(person))


def _known(person: User) -> frozenset[str]:
    """`given`, and whether a team keeps anything in this hub: by one query, once a request."""
    if person.sharing_known is None:
        rows = [found for kind in KINDS.values() for found in _given_rows(person, kind)]
        for kind in KINDS.values():
            kept = kind.rows.order_by().filter(team__isnull=False)
            rows.append(kept.annotate(word=Value(_KEPT)).values_list("word"))
        words = rows[0].union(*rows[1:])
        person.sharing_known = frozenset(word.partition("_")[0] for (word,) in words)
    return person.sharing_known


def _allowed(person: User, kind: Kind, permission: str) -> Q:
    """The rule as a condition on a kind's rows."""
    if not person.is_active:
        return Q(pk__in=())
    hub, level = person.has_perm(permission), LEVEL_OF.get(permission)
    if hub and everything(person):
        return Q()
    allowed = _not_kept(person, kind) if hub else Q(pk__in=())
    return allowed | _given_on(person, kind, level) if level else allowed


def _not_kept(person: User, kind: Kind) -> Q:
    """What is nobody's, and what the person's teams own."""
    nobodys, mine = Q(team=None), Q(team__in=_teams(person))
    if kind.parent:
        nobodys &= Q(**{f"{kind.parent}__team": None})
        mine |= Q(**{f"{kind.parent}__team__in": _teams(person)})
    return nobodys | mine


def _kept(person: User, kind: Kind, level: str) -> list[QuerySet[Any]]:
    """What teams keep from who holds a permission of this level for the hub, by whose team keeps it.

    The same as `_allowed`, the other way round, in statements that a database plans well: a million runs are
    looked up in it. NOT IN of one that is long takes one pass through it for each run.
    """
    rows = kind.rows.order_by()
    owners = ["team", *([f"{kind.parent}__team"] if kind.parent else [])]
    for owner in owners:
        rows = rows.exclude(**{f"{owner}__in": team_ids(person)})
    if given(person) if level == VIEW else level in given(person):
        parts = [(kind, "pk"), *([(KINDS[kind.parent], f"{kind.parent}_id")] if kind.parent else [])]
        for one, column in parts:
            for shared in given_to(person, one):
                held = shared if level == VIEW else shared.filter(permission__codename=f"{level}_{one.name}")
                rows = rows.exclude(Exists(held.filter(content_object=OuterRef(column))))
    return [rows.filter(**{f"{owner}__isnull": False}) for owner in owners]


def _given_on(person: User, kind: Kind, level: str) -> Q:
    """What the person was given the right on, or on what it is a part of."""
    found = _shared(person, kind, level, "pk")
    return found | _shared(person, KINDS[kind.parent], level, kind.parent) if kind.parent else found


def _shared(person: User, kind: Kind, level: str, column: str) -> Q:
    """The rows whose object in `column` the person was given the right on."""
    found = Q()
    for rows in given_to(person, kind):
        if level != VIEW:
            rows = rows.filter(permission__codename=f"{level}_{kind.name}")
        found |= Q(**{f"{column}__in": rows.values("content_object")})
    return found


def given_to(person: User, kind: Kind) -> tuple[QuerySet[Any], QuerySet[Any]]:
    people, teams = kind.people._default_manager, kind.teams._default_manager
    return people.filter(user=person), teams.filter(group__in=_teams(person))


def _given_rows(person: User, kind: Kind) -> Iterator[QuerySet[Any]]:
    return (rows.values_list("permission__codename") for rows in given_to(person, kind))


def _teams(person: User) -> QuerySet[Any]:
    return User.groups.through._default_manager.filter(user=person).values("group")


def team_ids(person: User) -> list[int]:
    """The same, by one query, once a request."""
    if person.sharing_teams is None:
        person.sharing_teams = [group for (group,) in _teams(person).values_list("group")]
    return person.sharing_teams


def with_parents(thing: Model) -> Iterator[tuple[Kind, Any]]:
    """The object and what it is a part of, each with its kind: what holds there holds for it, too."""
    kind: Kind | None = kind_of(thing)
    while kind:
        yield kind, thing
        thing = getattr(thing, kind.parent) if kind.parent else thing
        kind = KINDS[kind.parent] if kind.parent else None


def _levels(person: User, thing: Model) -> frozenset[str]:
    rows = [
        found.filter(content_object=one.pk).values_list("permission__codename")
        for kind, one in with_parents(thing)
        for found in given_to(person, kind)
    ]
    return frozenset(name.partition("_")[0] for (name,) in rows[0].union(*rows[1:]))
