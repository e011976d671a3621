"""What a person reaches: one rule, asked for lists and for single objects.

An object without a team is everybody's, as far as their roles say. One that a team owns is for its members,
as far as their roles say. Who was given a right on an object has it, whatever the roles. Admins reach all.
"""

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import connection
from django.db.models import F, Model, Q, QuerySet, Value
from django.db.models.constants import LOOKUP_SEP

from core.named import SAID, Named, Statement, statement
from security.models import User
from security.sharing.kinds import KINDS, Kind, kind_of
from security.sharing.levels import ENTERED, LEVEL_OF, VIEW

EVERYTHING = "security.reach_everything"
_TEAM, _KEPT = "a team of theirs", "kept"
# Stands for the person in a statement that is written once.
_SOMEBODY = -1
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Known:
    """What counts for a person, read once a request: their teams, the rights they were given, and whether
    teams keep anything at all. `rights` has by kind and object the levels, alone or with a team.
    """

    teams: tuple[int, ...]
    rights: Mapping[str, Mapping[int, frozenset[str]]]
    keeps: bool

    def given(self, kind: Kind, level: str) -> list[int]:
        """The objects of a kind that the right was given on; each right lets see."""
        found = self.rights.get(kind.name, {})
        return [pk for pk, levels in found.items() if level == VIEW or level in levels]


@dataclass(frozen=True)
class Own:
    """All that decides what teams keep from somebody: their teams, and by kind the objects that they were
    given a right on. What is written by it once holds for who has the same, and as long as they have it.
    """

    teams: tuple[int, ...]
    given: tuple[tuple[str, tuple[int, ...]], ...]


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
    if person.has_perm(permission):
        own = own_by(person, LEVEL_OF.get(permission, ""))
        return rows.filter(*(~Q(kept) for kept in _named(own, columns)))
    for name, column in columns.items():
        kind = KINDS[name]
        reached = kind.rows.order_by().filter(_allowed(person, kind, permission))
        named = Q(**{f"{column}__in": reached.values(kind.key)})
        rows = rows.filter(named | Q(**{f"{column}__isnull": True}) if _nullable(rows, column) else named)
    return rows


def _named(own: Own, columns: Mapping[str, str]) -> Iterator[Named]:
    """Whether a column names something that is kept, by its kind and whose team keeps it."""
    for name, column in columns.items():
        for written in _written(own, name):
            yield Named(column, written)


@functools.lru_cache(maxsize=256)
def _written(own: Own, name: str) -> list[Statement]:
    """Each of `_kept`, with what names it. Writing them took most of a page's time."""
    kind = KINDS[name]
    return [statement(rows.values(**{SAID: F(kind.key)})) for rows in _kept(kind, own)]


def _nullable(rows: QuerySet[Any], column: str) -> bool:
    """Whether rows may name none there. Where they cannot, a database begins at what is reached."""
    model: Any = rows.model
    for name in column.split(LOOKUP_SEP):
        found = model._meta.pk if name == "pk" else model._meta.get_field(name)
        if getattr(found, "null", True):
            return True
        model = found.related_model
    return False


def kept_from(person: User) -> dict[str, list[QuerySet[Any]]]:
    """By kind, what teams keep from the person, whatever the roles: all that any of the statements finds.

    Empty where none is kept.
    """
    own = own_of(person)
    return kept_by(own) if own else {}


def own_of(person: User) -> Own | None:
    """What decides what is kept from the person; None where nothing is."""
    return None if everything(person) or not known(person).keeps else own_by(person, VIEW)


def kept_by(own: Own) -> dict[str, list[QuerySet[Any]]]:
    """As `kept_from`, of anybody who has the same."""
    return {kind.name: _kept(kind, own) for kind in KINDS.values()}


def own_by(person: User, level: str) -> Own:
    """What the person has, with the rights of a level: each right lets see."""
    given = ((kind.name, tuple(sorted(known(person).given(kind, level)))) for kind in KINDS.values())
    return Own(known(person).teams, tuple(given))


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
    """No query of its own; for who reaches everything none at all."""
    teams = {team for _, one in with_parents(thing) if (team := one.team_id)}
    if not person.is_active:
        return Rights(person, bool(teams), member=False, levels=frozenset())
    free = everything(person)
    member = bool(teams) and not free and not teams.isdisjoint(known(person).teams)
    levels = frozenset[str]() if free else _levels(person, thing)
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
    kinds = known(person).rights.values()
    return frozenset(level for objects in kinds for levels in objects.values() for level in levels)


def sees_all(person: User, permission: str) -> bool:
    """Whether the person holds the permission on each object; most hubs keep none from anybody."""
    return person.has_perm(permission) and (everything(person) or not known(person).keeps)


def known(person: User) -> Known:
    """By one query, once a request."""
    if person.sharing is None:
        sql, parameters = _asked()
        with connection.cursor() as cursor:
            cursor.execute(sql, [person.pk if value == _SOMEBODY else value for value in parameters])
            person.sharing = _known(cursor.fetchall())
    return person.sharing


@functools.cache
def _asked() -> Statement:
    """The query of `known`, for _SOMEBODY. Each page of a member asks it, and writing it takes 7 ms."""
    person = User(pk=_SOMEBODY)
    rows = [row for kind in KINDS.values() for row in _rights_of(person, kind)]
    rows += [_teams(person).values_list(Value(_TEAM), "group_id", Value(""))]
    for kind in KINDS.values():
        kept = kind.rows.order_by().filter(team__isnull=False)
        rows.append(kept.values_list(Value(_KEPT), Value(0), Value("")))
    return statement(rows[0].union(*rows[1:]))


def _known(rows: Iterable[tuple[str, int, str]]) -> Known:
    teams, rights, keeps = [], dict[str, dict[int, frozenset[str]]](), False
    for what, pk, code in rows:
        if what == _TEAM:
            teams.append(pk)
        elif what == _KEPT:
            keeps = True
        else:
            objects = rights.setdefault(what, {})
            objects[pk] = objects.get(pk, frozenset()) | {code.partition("_")[0]}
    return Known(tuple(sorted(teams)), rights, keeps)


def _rights_of(person: User, kind: Kind) -> Iterator[QuerySet[Any]]:
    columns = Value(kind.name), "content_object_id", "permission__codename"
    yield kind.people._default_manager.filter(user=person).values_list(*columns)
    yield kind.teams._default_manager.filter(group__in=_teams(person).values("group")).values_list(*columns)


def _teams(person: User) -> QuerySet[Any]:
    return User.groups.through._default_manager.filter(user=person)


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
    teams = known(person).teams
    nobodys, mine = Q(team=None), Q(team__in=teams)
    if kind.parent:
        nobodys &= Q(**{f"{kind.parent}__team": None})
        mine |= Q(**{f"{kind.parent}__team__in": teams})
    return nobodys | mine


def _kept(kind: Kind, own: Own) -> list[QuerySet[Any]]:
    """What teams keep from who holds a permission for the hub, by whose team keeps it.

    The same as `_allowed`, the other way round, in statements that a database plans well: a million runs are
    looked up in it. So it names what the person has by keys: a join for each would be planned in each place.
    """
    rows, given = kind.rows.order_by(), dict(own.given)
    owners = ["team", *([f"{kind.parent}__team"] if kind.parent else [])]
    for owner in owners:
        rows = rows.exclude(**{f"{owner}__in": own.teams})
    for one, column in _parts(kind):
        if given[one.name]:
            rows = rows.exclude(**{f"{column}__in": given[one.name]})
    return [rows.filter(**{f"{owner}__isnull": False}) for owner in owners]


def _given_on(person: User, kind: Kind, level: str) -> Q:
    """What the person was given the right on, or on what it is a part of."""
    found = Q(pk__in=())
    for one, column in _parts(kind):
        if own := known(person).given(one, level):
            found |= Q(**{f"{column}__in": own})
    return found


def _parts(kind: Kind) -> Iterator[tuple[Kind, str]]:
    """The kind and what it is a part of, each with the column that has its key."""
    yield kind, "pk"
    if kind.parent:
        yield KINDS[kind.parent], f"{kind.parent}_id"


def with_parents(thing: Model) -> Iterator[tuple[Kind, Any]]:
    """The object and what it is a part of, each with its kind: what holds there holds for it, too."""
    kind: Kind | None = kind_of(thing)
    while kind:
        yield kind, thing
        thing = getattr(thing, kind.parent) if kind.parent else thing
        kind = KINDS[kind.parent] if kind.parent else None


def _levels(person: User, thing: Model) -> frozenset[str]:
    rights = known(person).rights
    found = (rights.get(kind.name, {}).get(one.pk, frozenset()) for kind, one in with_parents(thing))
    return frozenset[str]().union(*found)
