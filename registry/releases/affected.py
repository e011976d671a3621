"""Who feels it when a package changes. Upper layers add what they know: runs and schedules."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import Q

from registry.models import Assignment, CollectionMember, Package
from security.models import Persona, User
from security.sharing.reach import kept_from
from toolhub_sdk.runtimes.registry import own_runtime

SHOWN = 50
TOOLS_SHOWN = 20


@dataclass(frozen=True)
class Need:
    """One kind of thing that needs the package: `blocks` says that it stops a removal."""

    kind: str
    names: tuple[str, ...]
    blocks: bool


@dataclass(frozen=True)
class Affected:
    """All who are affected, by kind, at most 50 names each."""

    needs: tuple[Need, ...] = field(default=())

    @property
    def blocks(self) -> bool:
        return any(need.blocks and need.names for need in self.needs)

    def as_dict(self) -> dict[str, Any]:
        """`{kind: [names]}` of what there is."""
        return {need.kind: list(need.names) for need in self.needs if need.names}

    def told(self, by: User) -> "Affected":
        """As a person is told it: how many, without names, where teams keep some objects from them."""
        if not kept_from(by):
            return self
        return Affected(
            tuple(replace(need, names=(str(len(need.names)),)) for need in self.needs if need.names)
        )

    def in_words(self, by: User | None = None) -> list[str]:
        """One sentence per kind, for a person, or for an operator at the machine."""
        needs = (self.told(by) if by else self).needs
        return [f"Affected {need.kind}: {', '.join(need.names)}." for need in needs if need.names]


def tools_told(names: Sequence[str]) -> str:
    """The tools, or the first of many, as what a sentence is about."""
    if len(names) == 1:
        return f"The tool {names[0]} is"
    others = " and others" if len(names) > TOOLS_SHOWN else ""
    return f"The tools {', '.join(names[:TOOLS_SHOWN])}{others} are" if names else "Its tools are"


Look = Callable[[Package], Need]
_LOOKS: list[Look] = []


def need_register(look: Look) -> None:
    """Adds a look of an upper layer; called when Django starts."""
    _LOOKS.append(look)


def affected_by(package: Package) -> Affected:
    """Personas that see its tools, packages that depend on them, and what upper layers know."""
    return Affected((_personas(package), _packages(package), *(look(package) for look in _LOOKS)))


def _personas(package: Package) -> Need:
    collections = CollectionMember.objects.filter(tool__package=package).values("collection")
    rows = Assignment.objects.filter(
        Q(package=package) | Q(tool__package=package) | Q(collection__in=collections)
    )
    names = (
        Persona.objects.filter(pk__in=rows.values("persona"))
        .order_by("name")
        .values_list("name", flat=True)[:SHOWN]
    )
    return Need("personas", tuple(names), blocks=False)


def _packages(package: Package) -> Need:
    """Packages in use whose manifest names one of its tools as a dependency."""
    tools = set(package.tools.values_list("name", flat=True))
    others = Package.objects.filter(active__isnull=False).exclude(pk=package.pk).select_related("active")
    found = []
    for other in others.exclude(active__runner=own_runtime().name).iterator():
        needed = (other.active.manifest if other.active else {}).get("dependencies", {}).get("tools", {})
        if tools & set(needed):
            found.append(other.name)
    return Need("packages", tuple(found[:SHOWN]), blocks=True)
