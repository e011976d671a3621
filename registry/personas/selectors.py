"""Reads personas with what they see, hold and may call, for pages."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import OuterRef, Q, QuerySet

from core.errors import NotFound
from registry.models import Assignment, Package, Tool
from registry.selectors import ResolvedTool, call_decide, count_of
from security.decisions import Decision
from security.models import Grant, Persona, Token
from security.principals import PersonaPrincipal
from security.tokens import grants_of


def personas_page(filters: Mapping[str, str]) -> QuerySet[Persona]:
    """Every persona, by name, with how many assignments, grants and valid tokens it has; narrowed by `q`."""
    now = datetime.now(UTC)
    mine = OuterRef("pk")
    rows = Persona.objects.annotate(
        assignment_count=count_of(Assignment.objects.filter(persona=mine), "pk"),
        grant_count=count_of(
            Grant.objects.filter(Q(expires_at=None) | Q(expires_at__gt=now), persona=mine), "pk"
        ),
        token_count=count_of(Token.objects.filter(persona=mine, revoked_at=None, expires_at__gt=now), "pk"),
    )
    if filters.get("q"):
        text = filters["q"].strip()
        rows = rows.filter(Q(name__icontains=text) | Q(title__icontains=text))
    return rows.order_by("name")


def persona_detail(name: str) -> Persona:
    """A persona, for a person. Raises NotFound."""
    persona = Persona.objects.filter(name=name).first()
    if persona is None:
        raise NotFound(f"There is no persona {name[:64]!r}.")
    return persona


def assignables(persona: Persona, text: str, count: int = 30) -> list[tuple[str, str]]:
    """`(value, words)` of tools and packages that hold the text and are not assigned to the persona yet."""
    text = text.strip().removeprefix("package:")
    mine = Assignment.objects.filter(persona=persona)
    packages = Package.objects.filter(name__icontains=text, uninstalled_at=None).exclude(
        pk__in=mine.exclude(package=None).values("package")
    )
    tools = Tool.objects.filter(name__icontains=text, active__isnull=False)
    tools = tools.exclude(pk__in=mine.exclude(tool=None).values("tool"))
    found = [(f"package:{row.name}", f"all tools of {row.title or row.name}") for row in packages[:count]]
    return [*found, *((row.name, f"tool, {row.category}") for row in tools[: count - len(found)])]


def assignable_find(text: str) -> Tool | Package | None:
    """What a person means by `echo` (a tool) or `package:toolhub-data`; None when there is no such thing."""
    text = text.strip()
    if text.startswith("package:"):
        return Package.objects.filter(name=text.removeprefix("package:")).first()
    return Tool.objects.filter(name=text).first()


@dataclass(frozen=True)
class ToolDecision:
    """A tool that a persona sees, and whether it may be called now."""

    tool: Tool
    decision: Decision


def decisions_of(persona: Persona, tools: Iterable[Tool]) -> list[ToolDecision]:
    """The decision on each tool for the persona, no token involved; two queries for all of them."""
    shown = [tool for tool in tools if tool.active is not None]
    how = _assigned_how(persona, shown)
    principal = PersonaPrincipal(
        persona_id=persona.pk,
        persona=persona.name,
        persona_active=persona.is_active,
        token_id=None,
        responsible_id=0,
        responsible="",
        responsible_active=True,
        grants=grants_of(persona.pk),
    )
    found = []
    for tool in shown:
        if version := tool.active:
            version.tool = tool
            decision = call_decide(principal, ResolvedTool(version, how.get(tool.pk)))
            found.append(ToolDecision(tool, decision))
    return found


def _assigned_how(persona: Persona, tools: list[Tool]) -> dict[int, str]:
    """What assigns each tool to the persona, in words; a tool's own assignment before its package's."""
    packages = {tool.package_id for tool in tools}
    rows = Assignment.objects.filter(Q(tool__in=tools) | Q(package__in=packages), persona=persona)
    by_tool = {row.tool_id for row in rows if row.tool_id}
    by_package = {row.package_id for row in rows if row.package_id}
    how = {}
    for tool in tools:
        if tool.pk in by_tool:
            how[tool.pk] = "by name"
        elif tool.package_id in by_package:
            how[tool.pk] = f"with the package {tool.package.name}"
    return how
