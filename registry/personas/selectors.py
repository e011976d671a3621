"""Reads personas with what they see, hold and may call, for pages."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import OuterRef, Q, QuerySet, Subquery

from core.errors import InvalidRequest, NotFound
from registry.collections.models import Collection
from registry.models import Assignment, Package, Tool
from registry.selectors import ResolvedTool, assigned_words, assigning, call_decide, count_of, wishes_of
from security.decisions import Decision
from security.models import Grant, Persona, SigningSecret, Token, User
from security.policy.selectors import PolicyBook
from security.proposals import safeguards_exist
from security.sharing.reach import within
from security.tokens import principal_supposed, principals_supposed
from toolhub_sdk.problem import pointer as pointer_of

VIEW, ASSIGN = "security.view_persona", "registry.add_assignment"


def personas_page(filters: Mapping[str, str], by: User) -> QuerySet[Persona]:
    """Every persona that the person sees, by name, with how many assignments, grants and valid tokens it has.

    Narrowed by `q` and `tokens` (`ending`: one of them ends within 7 days).
    """
    now = datetime.now(UTC)
    mine = OuterRef("pk")
    rows = within(by, Persona.objects.all(), VIEW).annotate(
        assignment_count=count_of(Assignment.objects.filter(persona=mine), "pk"),
        grant_count=count_of(
            Grant.objects.filter(Q(expires_at=None) | Q(expires_at__gt=now), persona=mine), "pk"
        ),
        token_count=count_of(Token.objects.filter(persona=mine, revoked_at=None, expires_at__gt=now), "pk"),
    )
    if filters.get("tokens") == "ending":
        rows = rows.filter(pk__in=tokens_ending(now).values("persona"))
    if filters.get("q"):
        text = filters["q"].strip()
        rows = rows.filter(Q(name__icontains=text) | Q(title__icontains=text))
    return rows.order_by("name")


def tokens_ending(now: datetime, soon: timedelta = timedelta(days=7)) -> QuerySet[Token]:
    """Valid tokens that end soon."""
    return Token.objects.filter(revoked_at=None, expires_at__gt=now, expires_at__lte=now + soon)


def persona_detail(name: str, by: User, permission: str = VIEW) -> Persona:
    """A persona on which the person holds the permission, with `signed_since` and `signed_by` of the newest
    signing secret, and `has_safeguards`. Raises NotFound.
    """
    newest = SigningSecret.objects.filter(persona=OuterRef("pk"))
    rows = Persona.objects.select_related("standing__tier", "team").filter(name=name)
    rows = rows.annotate(
        signed_since=Subquery(newest.values("created_at")[:1]),
        signed_by=Subquery(newest.values("created_by__username")[:1]),
        has_safeguards=safeguards_exist("persona"),
    )
    persona = within(by, rows, permission).first()
    if persona is None:
        raise NotFound(f"There is no persona {name[:64]!r}.")
    return persona


def assignables(persona: Persona, text: str, by: User, count: int = 30) -> list[tuple[str, str]]:
    """`(value, words)` of what the person may assign, that holds the text and is not assigned yet."""
    text = text.strip().removeprefix("package:").removeprefix("collection:")
    mine = Assignment.objects.filter(persona=persona)
    packages = within(by, Package.objects.all(), ASSIGN)
    packages = packages.filter(name__icontains=text, uninstalled_at=None).exclude(
        pk__in=mine.exclude(package=None).values("package")
    )
    tools = within(by, Tool.objects.all(), ASSIGN).filter(name__icontains=text, active__isnull=False)
    tools = tools.exclude(pk__in=mine.exclude(tool=None).values("tool"))
    collections = within(by, Collection.objects.all(), ASSIGN).filter(name__icontains=text)
    collections = collections.exclude(pk__in=mine.exclude(collection=None).values("collection"))
    found = [
        *((f"package:{row.name}", f"all tools of {row.title or row.name}") for row in packages[:count]),
        *((f"collection:{row.name}", row.description or "a collection") for row in collections[:count]),
    ][:count]
    return [*found, *((row.name, f"tool, {row.category}") for row in tools[: count - len(found)])]


def assignable_find(text: str, by: User) -> Tool | Package | Collection | None:
    """What a person means by `echo` (a tool), `package:toolhub-data` or `collection:research`.

    Returns None for what they may not assign.
    """
    text = text.strip()
    if text.startswith("package:"):
        rows = Package.objects.filter(name=text.removeprefix("package:"))
        return within(by, rows, ASSIGN).first()
    if text.startswith("collection:"):
        sets = Collection.objects.filter(name=text.removeprefix("collection:"))
        return within(by, sets, ASSIGN).first()
    return within(by, Tool.objects.select_related("package"), ASSIGN).filter(name=text).first()


def assignable_named(text: str, by: User) -> Tool | Package | Collection | None:
    """As `assignable_find`; a bare name that no tool has may also be that of a package or a collection.

    Raises InvalidRequest where it is both.
    """
    if (found := assignable_find(text, by)) is not None or ":" in text:
        return found
    name = text.strip()
    whole = [one for kind in ("package", "collection") if (one := assignable_find(f"{kind}:{name}", by))]
    if len(whole) > 1:
        message = f"{name} is a package and a collection: write package:{name} or collection:{name}."
        raise InvalidRequest(message, errors=[{"pointer": "/target", "message": message}])
    return whole[0] if whole else None


def argument_pointers(tools: Iterable[Tool]) -> list[str]:
    """JSON Pointers of the arguments that are texts, of some tools' active versions, sorted."""
    found = set()
    for tool in tools:
        schema = tool.active.definition.get("inputSchema", {}) if tool.active else {}
        for name, about in schema.get("properties", {}).items():
            if isinstance(about, Mapping) and about.get("type") == "string":
                found.add(pointer_of((name,)))
    return sorted(found)


@dataclass(frozen=True)
class Decided:
    """A tool and a persona that sees it, and whether it may call the active version now."""

    persona: Persona
    tool: Tool
    decision: Decision

    @property
    def version(self) -> str:
        return self.tool.active.version if self.tool.active else ""


def book_for(persona: Persona, tools: Iterable[Tool]) -> PolicyBook:
    """The policy for a persona's calls of some tools, with what is used of limits."""
    return PolicyBook([persona.pk], [tool.name for tool in tools], used=True)


def decisions_of(persona: Persona, tools: Iterable[Tool], book: PolicyBook | None = None) -> list[Decided]:
    """The decision on each tool for the persona, no token involved; few queries for all of them.

    `book` is the policy where the caller has read it already.
    """
    shown = [tool for tool in tools if tool.active is not None]
    how = _assigned_how(persona, shown)
    book = book or book_for(persona, shown)
    principal = principal_supposed(persona)
    found = []
    for tool in shown:
        if version := tool.active:
            version.tool = tool
            policy = book.of(persona.pk, tool.name)
            resolved = ResolvedTool(version, how.get(tool.pk), policy, *wishes_of(tool))
            decision = call_decide(principal, resolved)
            found.append(Decided(persona, tool, decision))
    return found


def _assigned_how(persona: Persona, tools: list[Tool]) -> dict[int, str]:
    """What assigns each tool to the persona, in words, the narrowest first."""
    packages = {tool.package_id for tool in tools}
    wanted = Q(tool__in=tools) | Q(package__in=packages) | Q(collection__members__tool__in=tools)
    rows = Assignment.objects.filter(wanted, persona=persona)
    by_tool, by_package, by_collection = set(), set(), dict[int, str]()
    columns = ("tool_id", "package_id", "collection__members__tool_id", "collection__name")
    for tool_id, package_id, member, name in rows.values_list(*columns):
        by_tool.add(tool_id)
        by_package.add(package_id)
        if member is not None:
            by_collection[member] = min(name, by_collection.get(member, name))
    how = {}
    for tool in tools:
        words = assigned_words(
            tool.package.name, tool.pk in by_tool, tool.package_id in by_package, by_collection.get(tool.pk)
        )
        if words:
            how[tool.pk] = words
    return how


def tool_callers(tool: Tool, by: User, permission: str = VIEW) -> QuerySet[Persona]:
    """The personas that see a tool by their assignments, by name.

    Of them those on which the person holds the permission.
    """
    rows = Assignment.objects.filter(assigning(tool))
    personas = Persona.objects.filter(pk__in=rows.values("persona")).order_by("name")
    return within(by, personas, permission)


def callers_of(tool: Tool, personas: Iterable[Persona]) -> list[Decided]:
    """The decision on a call of the tool by each persona that it is assigned to; few queries for all."""
    version, shown = tool.active, list(personas)
    if version is None:
        return []
    version.tool = tool
    how = _assigned_to(tool, shown)
    book, found = PolicyBook([persona.pk for persona in shown], [tool.name], used=True), []
    for principal, persona in zip(principals_supposed(shown), shown, strict=True):
        policy = book.of(persona.pk, tool.name)
        resolved = ResolvedTool(version, how.get(persona.pk), policy, *wishes_of(tool))
        found.append(Decided(persona, tool, call_decide(principal, resolved)))
    return found


def _assigned_to(tool: Tool, personas: list[Persona]) -> dict[int, str | None]:
    """What assigns the tool to each persona, in words."""
    rows = Assignment.objects.filter(assigning(tool), persona__in=personas)
    found: dict[int, dict[str, Any]] = {}
    for row in rows.select_related("collection").order_by("-collection__name"):
        ways = found.setdefault(row.persona_id, {"by_tool": False, "by_package": False, "collection": None})
        ways["by_tool"] |= row.tool_id is not None
        ways["by_package"] |= row.package_id is not None
        ways["collection"] = row.collection.name if row.collection else ways["collection"]
    return {pk: assigned_words(tool.package.name, **ways) for pk, ways in found.items()}
