"""One search over all that has a name, runs and pages, each as far as the person may see it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Case, IntegerField, Model, Q, QuerySet, Value, When
from django.urls import reverse

from core.context import pages_of, places_of, settings_of
from execution.engine.selectors import runs_seen
from registry.collections.models import Collection
from registry.models import Package, Tool
from security.models import Persona, User
from security.sharing.reach import within

Row = TypeVar("Row", bound=Model)
SHOWN = 6
LONGEST = 200
HEX = frozenset("0123456789abcdef-")


@dataclass(frozen=True)
class Found:
    """Something that was found, and its page. `about` tells equal names apart; `icon` is its own, if any."""

    name: str
    about: str
    url: str
    icon: str = ""


@dataclass(frozen=True)
class Group:
    """What was found of one kind; `icon` is drawn before each."""

    title: str
    icon: str
    found: list[Found]


def find(person: User, text: str) -> list[Group]:
    """What holds the text, at most six of a kind: names that begin with it first."""
    text = text.strip()[:LONGEST]
    kinds: tuple[tuple[str, str, str, Callable[[User, str], Iterable[Found]]], ...] = (
        ("Tools", "tools", "registry.view_tool", _tools),
        ("Packages", "package", "registry.view_package", _packages),
        ("Collections", "list", "registry.view_collection", _collections),
        ("Personas", "robot", "security.view_persona", _personas),
        ("Runs", "player-play", "execution.view_run", _runs),
    )
    groups = [Group("Pages", "list", _pages(person, text))]
    if text:
        groups += [
            Group(title, icon, list(search(person, text)))
            for title, icon, permission, search in kinds
            if person.holds(permission)
        ]
    return [group for group in groups if group.found]


def _pages(person: User, text: str) -> list[Found]:
    places, within_settings = places_of(person), settings_of(person)
    icons = {item.title: item.icon for item in places} | {item.title: item.icon for item in within_settings}
    found = [Found(item.title, f"g {item.key}", reverse(item.url_name), item.icon) for item in places]
    found += [Found(item.title, "Settings", reverse(item.url_name), item.icon) for item in within_settings]
    if text:
        found += [
            Found(page.title, page.place, reverse(page.url_name), icons.get(page.place, ""))
            for page in pages_of(person)
        ]
    if not text:
        return found
    found = [each for each in found if text.lower() in each.name.lower()]
    # `sorted` keeps the order of equals: places stand before the pages within them.
    return sorted(found, key=lambda each: not each.name.lower().startswith(text.lower()))[:SHOWN]


def _first(rows: QuerySet[Row], text: str) -> QuerySet[Row]:
    """The few rows to show: the one of that name, those that begin with it, then the others."""
    rank = Case(
        When(name__iexact=text, then=Value(0)),
        When(name__istartswith=text, then=Value(1)),
        default=Value(2),
        output_field=IntegerField(),
    )
    first: QuerySet[Row] = rows.annotate(rank=rank).order_by("rank", "name")[:SHOWN]
    return first


def _tools(person: User, text: str) -> Iterable[Found]:
    rows = within(person, Tool.objects.filter(name__icontains=text), "registry.view_tool")
    for row in _first(rows.only("name", "category"), text):
        yield Found(row.name, row.category, reverse("tool", args=[row.name]))


def _packages(person: User, text: str) -> Iterable[Found]:
    rows = Package.objects.filter(Q(name__icontains=text) | Q(title__icontains=text))
    rows = within(person, rows, "registry.view_package")
    for row in _first(rows.only("name", "title"), text):
        yield Found(row.name, row.title, reverse("package", args=[row.name]))


def _collections(person: User, text: str) -> Iterable[Found]:
    rows = Collection.objects.filter(Q(name__icontains=text) | Q(description__icontains=text))
    rows = within(person, rows, "registry.view_collection")
    for row in _first(rows.only("name", "description"), text):
        yield Found(row.name, row.description, reverse("collection", args=[row.name]))


def _personas(person: User, text: str) -> Iterable[Found]:
    rows = Persona.objects.filter(Q(name__icontains=text) | Q(title__icontains=text))
    rows = within(person, rows, "security.view_persona")
    for row in _first(rows.only("name", "title"), text):
        yield Found(row.name, row.title, reverse("persona", args=[row.name]))


def _runs(person: User, text: str) -> Iterable[Found]:
    """The runs whose ids begin so; of a tool's whole name, the list of its runs."""
    ids = _ids_from(text)
    if ids:
        rows = runs_seen(person).filter(pk__gte=ids[0], pk__lte=ids[1]).only("tool", "status").order_by("-pk")
        for row in rows[:SHOWN]:
            yield Found(
                str(row.pk), f"{row.tool}, {row.status.replace('_', ' ')}", reverse("run", args=[row.pk])
            )
    elif runs_seen(person).filter(tool=text).exists():
        yield Found(f"Runs of {text}", "all of them", f"{reverse('runs')}?{urlencode({'tool': text})}")


def _ids_from(text: str) -> tuple[UUID, UUID] | None:
    """The first and last id that begin with the text; None where it is no beginning of one."""
    digits = text.lower().replace("-", "")
    if not 8 <= len(digits) <= 32 or not set(text.lower()) <= HEX:
        return None
    return UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))
