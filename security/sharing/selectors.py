"""Reads teams, what they own, and which rights were given on what."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import Group
from django.db.models import Count, Model, QuerySet, Value

from core.errors import NotFound
from security.models import User
from security.sharing.kinds import KINDS, kind_of
from security.sharing.levels import LEVELS
from security.sharing.reach import within
from security.sharing.teams import teams

SHOWN = 50


@dataclass(frozen=True)
class Given:
    """A right that a person or a team was given on an object. `pk` is the holder's, `holder` what it is."""

    kind: str
    thing: str
    holder: str
    name: str
    pk: int
    level: str

    @property
    def meaning(self) -> str:
        return LEVELS[self.level]


def thing_seen(kind: str, name: str, by: User) -> Model:
    """An object of a kind, by its name, that the person sees. Raises NotFound."""
    known = KINDS.get(kind)
    rows = within(by, known.rows.filter(name=name), known.view) if known else None
    above = [f"{known.parent}__team"] if known and known.parent else []
    found: Model | None = rows.select_related("team", *above).first() if rows is not None else None
    if found is None:
        raise NotFound(f"There is no {kind[:20]} {name[:64]!r}.")
    return found


def given_on(thing: Model) -> list[Given]:
    """The rights given on an object itself: people's first, by name. Two queries."""
    kind = kind_of(thing)
    people = kind.people._default_manager.filter(content_object=thing.pk).select_related(
        "user", "permission", "content_object"
    )
    held = kind.teams._default_manager.filter(content_object=thing.pk).select_related(
        "group", "permission", "content_object"
    )
    return [
        *(_given(row, kind.name, "person") for row in people.order_by("user__username", "pk")),
        *(_given(row, kind.name, "team") for row in held.order_by("group__name", "pk")),
    ]


def given_to_person(person: User, by: User) -> list[Given]:
    """The rights that a person was given, also with a team, on what the reader sees. One query."""
    parts: list[QuerySet[Any, Any]] = []
    for kind in KINDS.values():
        seen = within(by, kind.rows.all(), kind.view).values("pk")
        people = kind.people._default_manager.filter(user=person, content_object__in=seen)
        held = kind.teams._default_manager.filter(group__in=person.groups.all(), content_object__in=seen)
        for holder, rows, to, name in (
            ("person", people, "user_id", "user__username"),
            ("team", held, "group_id", "group__name"),
        ):
            told = rows.order_by().annotate(of=Value(kind.name), holder=Value(holder))
            parts.append(
                told.values_list("of", "content_object__name", "holder", name, to, "permission__codename")
            )
    # In columns of the first part's names.
    found = parts[0].union(*parts[1:], all=True).order_by("content_object__name", "of")[: SHOWN * len(parts)]
    order = list(KINDS)
    made = [
        Given(of, thing, holder, name, pk, code.partition("_")[0])
        for of, thing, holder, name, pk, code in found
    ]
    return sorted(made, key=lambda one: (order.index(one.kind), one.holder))


def _given(row: Any, kind: str, holder: str) -> Given:
    to = row.user if holder == "person" else row.group
    return Given(
        kind, str(row.content_object), holder, str(to), to.pk, row.permission.codename.partition("_")[0]
    )


def teams_page(params: Mapping[str, str]) -> QuerySet[Group]:
    """Every team, by name, with `members` (how many); narrowed by `q`."""
    rows = teams().annotate(members=Count("user"))
    return rows.filter(name__icontains=params["q"].strip()) if params.get("q") else rows


def owned_by(team: Group, by: User) -> Iterator[tuple[str, list[str]]]:
    """`(kind, names)` of what a team owns and the person sees, at most 50 of a kind."""
    for kind in KINDS.values():
        rows = within(by, kind.rows.filter(team=team), kind.view).order_by("name")
        yield kind.name, list(rows.values_list("name", flat=True)[:SHOWN])
