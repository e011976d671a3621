"""Reads collections with their members, for pages, and for agents as far as they see."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import F, OuterRef, Q, QuerySet

from core.errors import InvalidRequest, NotFound
from registry.collections.models import Collection
from registry.models import Assignment, CollectionMember, Tool
from registry.selectors import count_of, tools_assigned
from security.models import Persona, User
from security.sharing.reach import about, within

VIEW, SEE_TOOL, SEE_PERSONA = "registry.view_collection", "registry.view_tool", "security.view_persona"
ASSIGN = "registry.add_assignment"


def collections_page(filters: Mapping[str, str], by: User) -> QuerySet[Collection]:
    """Every collection that the person sees, by name, with `tool_count` and `persona_count`.

    Counted are the tools and personas that the person sees. Narrowed by `q` (part of name or description).
    """
    members = CollectionMember.objects.filter(collection=OuterRef("pk"))
    having = Assignment.objects.filter(collection=OuterRef("pk"))
    rows = within(by, Collection.objects.all(), VIEW).annotate(
        tool_count=count_of(about(by, members, SEE_TOOL, tool="tool__name"), "pk"),
        persona_count=count_of(about(by, having, SEE_PERSONA, persona="persona"), "pk"),
    )
    if filters.get("q"):
        text = filters["q"].strip()
        rows = rows.filter(Q(name__icontains=text) | Q(description__icontains=text))
    return rows.order_by("name")


def collection_detail(name: str, by: User, permission: str = VIEW) -> Collection:
    """A collection on which the person holds the permission. Raises NotFound."""
    rows = Collection.objects.select_related("team").filter(name=name)
    found = within(by, rows, permission).first() if "\0" not in name else None
    if found is None:
        raise collection_missing(name)
    return found


def collection_missing(name: str) -> NotFound:
    """What is heard of a collection that does not exist or may not be seen: the same."""
    return NotFound(f"There is no collection {name[:64]!r}.")


def collection_locked(collection: Collection) -> Collection:
    """The collection, held until the caller's transaction ends. Raises NotFound where it is gone by now."""
    row = Collection.objects.select_for_update().filter(pk=collection.pk).first()
    if row is None:
        raise collection_missing(collection.name)
    return row


def members_seen(collection: Collection, by: User) -> QuerySet[Tool]:
    """Its tools that the person sees, by name, with package, active version, `added_by` and `added_at`."""
    rows = Tool.objects.filter(memberships__collection=collection)
    rows = rows.annotate(added_by=F("memberships__added_by__username"), added_at=F("memberships__added_at"))
    rows = within(by, rows, SEE_TOOL).select_related("package", "active").order_by("name")
    return rows.defer("active__definition", "active__required_capabilities")


def holders_seen(collection: Collection, by: User) -> QuerySet[Persona]:
    """The personas to which it is assigned, of those that the person sees, by name."""
    rows = Persona.objects.filter(pk__in=collection.assignments.values("persona")).order_by("name")
    return within(by, rows, SEE_PERSONA)


def addable(collection: Collection, text: str, by: User, count: int = 30) -> list[tuple[str, str]]:
    """`(name, words)` of tools that the person may add, whose names hold the last word of the text."""
    last = (text.split() or [""])[-1]
    if "\0" in last:
        return []
    rows = within(by, Tool.objects.all(), ASSIGN).filter(name__icontains=last, active__isnull=False)
    rows = rows.exclude(pk__in=collection.members.values("tool")).order_by("name")
    return [(row.name, f"tool, {row.category}") for row in rows[:count]]


@dataclass(frozen=True)
class Sight:
    """The collections that a caller sees, and the tools that it sees in them."""

    collections: QuerySet[Collection]
    tools: QuerySet[Tool]

    def members(self, collection: Collection) -> list[str]:
        """The names of the tools in a collection, in order."""
        rows = self.tools.filter(memberships__collection=collection).order_by("name")
        return list(rows.values_list("name", flat=True))

    def with_counts(self) -> QuerySet[Collection]:
        """The collections, each with `tool_count`."""
        members = CollectionMember.objects.filter(collection=OuterRef("pk"))
        members = members.filter(tool__in=self.tools.order_by().values("pk"))
        return self.collections.annotate(tool_count=count_of(members, "pk"))


def sight_of(persona_id: int) -> Sight:
    """What an agent sees: its own tools, and the collections that hold one of them.

    Of those that belong to a team only what is assigned to it: names of others tell about the team.
    """
    tools = tools_assigned(persona_id)
    holding = CollectionMember.objects.filter(tool__in=tools.order_by().values("pk"))
    mine = Assignment.objects.filter(persona_id=persona_id, collection__isnull=False)
    rows = Collection.objects.filter(
        Q(team=None) | Q(pk__in=mine.values("collection")), pk__in=holding.values("collection")
    )
    return Sight(rows, tools)


def sight_with(persona_id: int, person: User) -> Sight:
    """What an agent sees that manages personas for a person: what the person sees, too."""
    own = sight_of(persona_id)
    seen = within(person, Collection.objects.all(), VIEW)
    collections = Collection.objects.filter(
        Q(pk__in=seen.values("pk")) | Q(pk__in=own.collections.values("pk"))
    )
    theirs = within(person, Tool.objects.all(), SEE_TOOL)
    tools = Tool.objects.filter(Q(pk__in=theirs.values("pk")) | Q(pk__in=own.tools.order_by().values("pk")))
    return Sight(collections, tools)


def tools_meant(names: Sequence[str], by: User, permission: str, field: str = "tools") -> list[Tool]:
    """The tools of these names on which the person holds the permission; a pointer to each of the others.

    Raises InvalidRequest.
    """
    rows = Tool.objects.select_related("package").filter(
        name__in=[name for name in names if "\0" not in name]
    )
    found = {tool.name: tool for tool in within(by, rows, permission)}
    unknown = [
        {"pointer": f"/{field}/{at}", "message": f"There is no tool {name[:64]!r}."}
        for at, name in enumerate(names)
        if name not in found
    ]
    if unknown:
        raise InvalidRequest(unknown[0]["message"], errors=unknown[:20])
    return [found[name] for name in dict.fromkeys(names)]
