"""Reads the registry, for callers and for pages."""

from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from core.errors import NotFound
from registry.models import Assignment, Tool, ToolVersion
from registry.versions import version_pick
from security.decisions import CallFacts, Decision, TokenState, decide
from security.principals import PersonaPrincipal


@dataclass(frozen=True)
class ResolvedTool:
    """A tool version as a call means it, and what assigns it to the caller (None: nothing does)."""

    version: ToolVersion
    assigned_by: str | None

    @property
    def name(self) -> str:
        return self.version.tool.name


def tool_missing(name: str) -> NotFound:
    """What a caller hears of a tool that does not exist or that it may not see: the same."""
    return NotFound(f"There is no tool {name[:64]!r} for this caller.", code="TOOL_NOT_FOUND")


def tool_resolve(name: str, persona_id: int, version: str | None = None) -> ResolvedTool:
    """The version that `name`, `name@version` or an extra `version` means: the active one by default.

    Raises NotFound (TOOL_NOT_FOUND). A version that is missing is told only to a caller that sees the tool.
    """
    name, _, spec = name.partition("@")
    spec = spec or version or ""
    rows = _versions_for(persona_id)
    if spec:
        available = ToolVersion.objects.filter(tool__name=name).values_list("version", flat=True)
        picked = version_pick(spec, available)
        row = rows.filter(tool__name=name, version=picked).first() if picked else None
        if row is None and _is_visible(name, persona_id):
            raise NotFound(f"{name} has no version {spec}.", code="VERSION_NOT_FOUND")
    else:
        row = rows.filter(tool__name=name, tool__active_id=F("pk")).first()
    if row is None:
        raise tool_missing(name)
    return ResolvedTool(row, _assigned_by(row))


def tool_resolve_version(version: ToolVersion, persona_id: int) -> ResolvedTool:
    """A known version with what assigns it to the persona now."""
    row = _versions_for(persona_id).get(pk=version.pk)
    return ResolvedTool(row, _assigned_by(row))


def _versions_for(persona_id: int) -> QuerySet[ToolVersion]:
    mine = Assignment.objects.filter(persona_id=persona_id)
    return ToolVersion.objects.select_related("tool__package").annotate(
        by_tool=Exists(mine.filter(tool=OuterRef("tool"))),
        by_package=Exists(mine.filter(package=OuterRef("tool__package"))),
    )


def _is_visible(name: str, persona_id: int) -> bool:
    return tools_assigned(persona_id).filter(name=name).exists()


def _assigned_by(row: ToolVersion) -> str | None:
    if row.by_tool:  # type: ignore[attr-defined]
        return "by name"
    return f"with the package {row.tool.package.name}" if row.by_package else None  # type: ignore[attr-defined]


def tools_assigned(persona_id: int) -> QuerySet[Tool]:
    """The tools that a persona sees, by name, with package and active version."""
    mine = Assignment.objects.filter(persona_id=persona_id)
    return (
        Tool.objects.filter(Q(pk__in=mine.values("tool")) | Q(package__in=mine.values("package")))
        .filter(active__isnull=False)
        .select_related("package", "active")
        .order_by("name")
    )


def call_decide(
    principal: PersonaPrincipal, found: ResolvedTool, *, token_state: TokenState = "valid", at: datetime | None = None
) -> Decision:
    """The decision on a call of the tool by this principal; expiries are judged at `at`, else now."""
    return decide(
        CallFacts(
            now=at or datetime.now(UTC),
            persona=principal.persona,
            persona_active=principal.persona_active,
            token_state=token_state,
            responsible_active=principal.responsible_active,
            tool=found.name,
            version=found.version.version,
            version_state=found.version.state,  # type: ignore[arg-type]
            assigned_by=found.assigned_by,
            required=tuple(found.version.required_capabilities),
            grants=principal.grants,
        )
    )
