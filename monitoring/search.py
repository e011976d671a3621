"""One search over tools, packages, personas, runs and pages, each as far as the person may see it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Case, IntegerField, Model, Q, QuerySet, Value, When
from django.urls import reverse

from core.context import places_of, settings_of
from execution.models import Run
from registry.models import Package, Tool
from security.models import Persona, User

Row = TypeVar("Row", bound=Model)
SHOWN = 6
LONGEST = 200
HEX = frozenset("0123456789abcdef-")


@dataclass(frozen=True)
class Found:
    """Something that was found, and its page. `about` tells equal names apart."""

    name: str
    about: str
    url: str


@dataclass(frozen=True)
class Group:
    """What was found of one kind; `icon` is drawn before each."""

    title: str
    icon: str
    found: list[Found]


def find(person: User, text: str) -> list[Group]:
    """What holds the text, at most six of a kind: names that begin with it first."""
    text = text.strip()[:LONGEST]
    kinds: tuple[tuple[str, str, str, Callable[[str], Iterable[Found]]], ...] = (
        ("Tools", "tools", "registry.view_tool", _tools),
        ("Packages", "package", "registry.view_package", _packages),
        ("Personas", "robot", "security.view_persona", _personas),
        ("Runs", "player-play", "execution.view_run", _runs),
    )
    groups = [Group("Pages", "list", _pages(person, text))]
    if text:
        groups += [
            Group(title, icon, list(search(text)))
            for title, icon, permission, search in kinds
            if person.has_perm(permission)
        ]
    return [group for group in groups if group.found]


def _pages(person: User, text: str) -> list[Found]:
    found = [Found(item.title, f"g {item.key}", reverse(item.url_name)) for item in places_of(person)]
    found += [Found(item.title, "Settings", reverse(item.url_name)) for item in settings_of(person)]
    return [each for each in found if text.lower() in each.name.lower()]


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


def _tools(text: str) -> Iterable[Found]:
    rows = Tool.objects.filter(name__icontains=text).only("name", "category")
    for row in _first(rows, text):
        yield Found(row.name, row.category, reverse("tool", args=[row.name]))


def _packages(text: str) -> Iterable[Found]:
    rows = Package.objects.filter(Q(name__icontains=text) | Q(title__icontains=text)).only("name", "title")
    for row in _first(rows, text):
        yield Found(row.name, row.title, reverse("package", args=[row.name]))


def _personas(text: str) -> Iterable[Found]:
    rows = Persona.objects.filter(Q(name__icontains=text) | Q(title__icontains=text)).only("name", "title")
    for row in _first(rows, text):
        yield Found(row.name, row.title, reverse("persona", args=[row.name]))


def _runs(text: str) -> Iterable[Found]:
    """The runs whose ids begin so; of a tool's whole name, the list of its runs."""
    ids = _ids_from(text)
    if ids:
        rows = Run.objects.filter(pk__gte=ids[0], pk__lte=ids[1]).only("tool", "status").order_by("-pk")
        for row in rows[:SHOWN]:
            yield Found(
                str(row.pk), f"{row.tool}, {row.status.replace('_', ' ')}", reverse("run", args=[row.pk])
            )
    elif Run.objects.filter(tool=text).exists():
        yield Found(f"Runs of {text}", "all of them", f"{reverse('runs')}?{urlencode({'tool': text})}")


def _ids_from(text: str) -> tuple[UUID, UUID] | None:
    """The first and last id that begin with the text; None where it is no beginning of one."""
    digits = text.lower().replace("-", "")
    if not 8 <= len(digits) <= 32 or not set(text.lower()) <= HEX:
        return None
    return UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))
