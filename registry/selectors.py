"""Reads the registry, for callers and for pages."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import semver
from django.db.models import Exists, F, Func, IntegerField, OuterRef, Q, QuerySet, Subquery

from core.errors import InvalidRequest, NotFound
from registry.collections.models import Collection
from registry.content import content_fact
from registry.models import Assignment, CollectionMember, Package, Tool, ToolVersion, VersionState
from registry.versions import rows_newest_first, version_pick
from security.decisions import Decision, decide, standing_grants
from security.facts import CallFacts, ContentFact, Policy, TokenState
from security.models import User
from security.policy.selectors import PolicyBook
from security.principals import PersonaPrincipal
from security.sharing.reach import about, within
from security.two_person_rule import four_eyes_hold
from toolhub_sdk.checks.mismatch import shown
from toolhub_sdk.checks.near import KNOWN_MOST, near_names

VERSIONS_SHOWN = 20

# What an admin wants of a tool's calls: approval, sanitised arguments, a mode of content checks, rules.
Wishes = tuple[bool, bool, str, tuple[Mapping[str, Any], ...]]


@dataclass(frozen=True)
class ResolvedTool:
    """A tool version as a call means it, what assigns it to the caller (None: nothing), and the rules."""

    version: ToolVersion
    assigned_by: str | None
    policy: Policy
    # Whether an admin wants each call approved, whatever the contract says.
    asks_approval: bool = False
    # Whether an admin wants arguments sanitised; as above.
    cleans: bool = False
    # What an admin wants done about arguments that look like attacks; empty: as the contract says.
    content_mode: str = ""
    # The rules that people added for its calls.
    rules: tuple[Mapping[str, Any], ...] = ()

    @property
    def name(self) -> str:
        return self.version.tool.name

    @property
    def sanitises(self) -> bool:
        """Whether the tool gets its arguments sanitised."""
        return self.cleans or self.version.sanitises

    def content(self, arguments: Mapping[str, Any] | None) -> ContentFact | None:
        """What looks like an attack in the arguments, and what is to be done about it."""
        fields = self.version.content_fields
        if not fields:
            return None
        return content_fact(fields, self.content_mode or self.version.content_mode, arguments)

    @property
    def asks(self) -> str:
        """Why each call is to be approved by a person; empty where it is not."""
        if self.version.asks_approval:
            return "its contract wants it"
        return "an admin wants it" if self.asks_approval else ""


def tool_missing(name: str, persona_id: int, collection: str = "") -> NotFound:
    """Return the error for a tool that does not exist or that the persona may not see: the same for both.

    It names the tools that the persona sees, of the collection where one is named, with a name like it.
    """
    seen = tools_assigned(persona_id)
    if collection:
        seen = seen.filter(memberships__collection__name=collection)
    near = near_names(name, seen.values_list("name", flat=True)[:KNOWN_MOST])
    asked = f" Did you mean {' or '.join(near)}?" if near else ""
    return NotFound(
        f"No tool named {shown(name[:64])} is available to you.{asked}",
        code="TOOL_NOT_FOUND",
        suggestions=[f"Call {near[0]}, or list the tools."] if near else (),
        data={"near": near} if near else {},
    )


def tool_resolve(name: str, persona_id: int, version: str | None = None) -> ResolvedTool:
    """The version that `name`, `name@version` or an extra `version` means: the active one by default.

    Raises InvalidRequest for two that differ, NotFound (TOOL_NOT_FOUND). A version that is missing is
    told only to a caller that sees the tool.
    """
    name, _, spec = name.partition("@")
    if spec and version and spec != version:
        raise InvalidRequest(
            f"The address names version {spec[:64]} and the body {version[:64]}.",
            errors=[{"pointer": "/version", "message": "Name the version once."}],
        )
    spec = spec or version or ""
    rows = _versions_for(persona_id)
    if spec:
        states = dict(ToolVersion.objects.filter(tool__name=name).values_list("version", "state"))
        # A line (`1`, `1.4`) means its highest version that can be called; a withdrawn one is named exactly.
        callable_now = [number for number, state in states.items() if state != VersionState.YANKED]
        picked = version_pick(spec, callable_now) or version_pick(spec, states)
        row = rows.filter(tool__name=name, version=picked).first() if picked else None
        if row is None and _is_visible(name, persona_id):
            raise _version_missing(name, spec, states)
    else:
        row = rows.filter(tool__name=name, tool__active_id=F("pk")).first()
    if row is None:
        raise tool_missing(name, persona_id)
    return _resolved(row, persona_id)


def _version_missing(name: str, spec: str, states: Mapping[str, str]) -> NotFound:
    """The error for a version that a tool has not, with those that can be called, the highest first."""
    ready = [number for number, state in states.items() if state != VersionState.YANKED]
    ready.sort(key=semver.Version.parse, reverse=True)
    known = ", ".join(ready[:VERSIONS_SHOWN]) or "none"
    left = len(ready) - VERSIONS_SHOWN
    more = f" and {left} more (GET /api/v1/tools/{name}/versions)" if left > 0 else ""
    return NotFound(
        f"{name} has no version {spec[:64]}. Versions: {known}{more}.",
        code="VERSION_NOT_FOUND",
        suggestions=[f"Name one of {known}, or leave the version out to call the active one."],
        data={"versions": ready[:VERSIONS_SHOWN]},
    )


def tool_resolve_version(version: ToolVersion, persona_id: int) -> ResolvedTool:
    """A known version with what assigns it to the persona now."""
    return _resolved(_versions_for(persona_id).get(pk=version.pk), persona_id)


def _resolved(row: ToolVersion, persona_id: int) -> ResolvedTool:
    name = row.tool.name
    policy = PolicyBook([persona_id], [name]).of(persona_id, name)
    return ResolvedTool(row, _assigned_by(row), policy, *wishes_of(row.tool))


def wishes_of(tool: Tool) -> Wishes:
    """What an admin wants of calls of a tool, as ResolvedTool has it."""
    return tool.asks_approval, tool.sanitises, tool.content_mode, tuple(tool.rules)


def _versions_for(persona_id: int) -> QuerySet[ToolVersion]:
    mine = Assignment.objects.filter(persona_id=persona_id)
    return ToolVersion.objects.select_related("tool__package").annotate(
        by_tool=Exists(mine.filter(tool=OuterRef("tool"))),
        by_package=Exists(mine.filter(package=OuterRef("tool__package"))),
        by_collection=Subquery(
            CollectionMember.objects.filter(tool=OuterRef("tool"), collection__in=mine.values("collection"))
            .order_by("collection__name")
            .values("collection__name")[:1]
        ),
    )


def _is_visible(name: str, persona_id: int) -> bool:
    return tools_assigned(persona_id).filter(name=name).exists()


def _assigned_by(row: ToolVersion) -> str | None:
    return assigned_words(
        row.tool.package.name,
        row.by_tool,  # type: ignore[attr-defined]
        row.by_package,  # type: ignore[attr-defined]
        row.by_collection,  # type: ignore[attr-defined]
    )


def assigned_words(package: str, by_tool: bool, by_package: bool, collection: str | None) -> str | None:
    """What assigns a tool of the package to a persona, the narrowest first; None where nothing does."""
    if by_tool:
        return "by name"
    if by_package:
        return f"with the package {package}"
    return f"with the collection {collection}" if collection else None


def tools_assigned(persona_id: int) -> QuerySet[Tool]:
    """The tools that a persona sees, by name, with package and active version."""
    mine = Assignment.objects.filter(persona_id=persona_id)
    members = CollectionMember.objects.filter(collection__in=mine.values("collection"))
    return (
        Tool.objects.filter(
            Q(pk__in=mine.values("tool"))
            | Q(package__in=mine.values("package"))
            | Q(pk__in=members.values("tool"))
        )
        .filter(active__isnull=False)
        .select_related("package", "active")
        .order_by("name")
    )


def assigning(tool: Tool) -> Q:
    """The assignments that let personas see the tool: by its name, with its package, in a collection."""
    collections = CollectionMember.objects.filter(tool=tool).values("collection")
    return Q(tool=tool) | Q(package=tool.package_id) | Q(collection__in=collections)


def targets_assigned(persona_id: int) -> frozenset[str]:
    """The names of the tools that a persona sees, and `package:NAME` and `collection:NAME` of what is
    assigned to it as a whole.
    """
    packages = Package.objects.filter(assignments__persona=persona_id).values_list("name", flat=True)
    collections = Collection.objects.filter(assignments__persona=persona_id).values_list("name", flat=True)
    tools = tools_assigned(persona_id).values_list("name", flat=True)
    whole = {f"package:{name}" for name in packages} | {f"collection:{name}" for name in collections}
    return frozenset(tools) | whole


def call_decide(
    principal: PersonaPrincipal,
    found: ResolvedTool,
    *,
    arguments: Mapping[str, Any] | None = None,
    token_state: TokenState | None = None,
    at: datetime | None = None,
    approved: str = "",
    session: str = "",
    fits: bool = True,
) -> Decision:
    """The decision on a call of the tool by this principal; expiries are judged at `at`, else now.

    Conditions of grants are judged by `arguments`; without them they count as met. Arguments that do not
    fit the tool's schema (`fits` is false) are not searched for attacks.

    `approved` names who approved this very call; `session` is the one that the call is in.

    Unless it is given, `token_state` is that of a valid token, or "none" where there is no token.
    """
    if token_state is None:
        token_state = "none" if principal.token_id is None else "valid"
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
            version_reason=found.version.state_reason,
            assigned_by=found.assigned_by,
            required=tuple(found.version.required_capabilities),
            grants=principal.grants,
            arguments=arguments,
            policy=found.policy,
            standing=principal.standing,
            content=found.content(arguments if fits else None),
            asks=found.asks,
            approved=approved,
            session=session,
            same_eyes=_same_eyes(principal, found.name),
        )
    )


def _same_eyes(principal: PersonaPrincipal, tool: str) -> int:
    """Who answers for the caller, while four eyes hold. Nobody looks where no grant of theirs approves."""
    grants = standing_grants(tool, principal.grants)
    own = any(grant.granted_by == principal.responsible_id for grant in grants)
    return principal.responsible_id if own and four_eyes_hold() else 0


def tools_page(filters: Mapping[str, str], by: User) -> QuerySet[Tool]:
    """Every tool that the person sees, by name, with package, active version and `personas`.

    That is how many see it. Narrowed by `category`, `package` and `q` (part of the tool's or package's name).
    """
    rows = (
        within(by, Tool.objects.select_related("package", "active"), "registry.view_tool")
        .annotate(personas=_personas_of_tool())
        .order_by("name")
    )
    rows = rows.defer("active__definition", "active__required_capabilities")
    if filters.get("category"):
        rows = rows.filter(category=filters["category"])
    if filters.get("package"):
        rows = rows.filter(package__name=filters["package"])
    if filters.get("q"):
        text = filters["q"].strip()
        # Looked up first: a join would have every tool compared twice.
        packages = list(Package.objects.filter(name__icontains=text).values_list("pk", flat=True))
        rows = rows.filter(Q(name__icontains=text) | Q(package__in=packages))
    return rows


def count_of(rows: QuerySet[Any], column: str) -> Subquery:
    """A subquery: how many different values the column has in a correlated query."""
    counted = Func(F(column), function="COUNT", template="%(function)s(DISTINCT %(expressions)s)")
    return Subquery(rows.order_by().annotate(n=counted).values("n"), output_field=IntegerField())


def _personas_of_tool() -> Subquery:
    collections = CollectionMember.objects.filter(tool=OuterRef(OuterRef("pk"))).values("collection")
    rows = Assignment.objects.filter(
        Q(tool=OuterRef("pk")) | Q(package=OuterRef("package")) | Q(collection__in=collections)
    )
    return count_of(rows, "persona")


def tools_named(name: str) -> list[Tool]:
    """The tool of this name with its package; none where there is none, or none yet."""
    return list(Tool.objects.select_related("package").filter(name=name.partition("@")[0]))


def tool_detail(name: str, by: User, permission: str = "registry.view_tool") -> Tool:
    """A tool with package and active version, on which the person holds the permission. Raises NotFound."""
    rows = Tool.objects.select_related("package__team", "team", "active__release")
    tool = within(by, rows, permission).filter(name=name).first()
    if tool is None:
        raise NotFound(f"There is no tool {name[:64]!r}.")
    return tool


def tool_versions(tool: Tool, count: int = 20) -> list[ToolVersion]:
    """A tool's highest versions, highest first, without their definitions. The one in use is among them."""
    return rows_newest_first(tool.versions.defer("definition"), count, keep=tool.active_id)


def tool_assignments(tool: Tool, by: User, count: int = 50) -> list[Assignment]:
    """What lets personas that the person sees call the tool, by persona; of collections those seen."""
    rows = about(by, Assignment.objects.filter(assigning(tool)), "security.view_persona", persona="persona")
    rows = about(by, rows, "registry.view_collection", collection="collection__name")
    related = ("persona", "tool", "package", "collection", "assigned_by")
    return list(rows.select_related(*related).order_by("persona__name", "pk")[:count])
