"""Reads packages and releases, for pages and the API."""

from collections.abc import Mapping
from typing import Any

from django.db.models import OuterRef, Q, QuerySet

from core.errors import NotFound
from registry.models import Archive, Package, Release, Tool, ToolVersion, VersionState
from registry.selectors import count_of
from registry.versions import relation, rows_newest_first
from security.models import User
from security.sharing.reach import about, within

VIEW = "registry.view_package"


def packages_page(params: Mapping[str, str], by: User) -> QuerySet[Package]:
    """Every package that the person sees, by name, with its release in use and `tool_count`.

    Narrowed by `q` and `state`.
    """
    rows = Package.objects.select_related("active").defer("active__manifest", "active__lock").order_by("name")
    rows = within(by, rows, VIEW)
    in_use = Tool.objects.filter(package=OuterRef("pk"), active__isnull=False)
    rows = rows.annotate(tool_count=count_of(in_use, "pk"))
    if params.get("state") == "removed":
        rows = rows.filter(uninstalled_at__isnull=False)
    else:
        rows = rows.filter(uninstalled_at__isnull=True)
    if params.get("q"):
        text = params["q"].strip()
        rows = rows.filter(
            Q(name__icontains=text) | Q(title__icontains=text) | Q(description__icontains=text)
        )
    return rows


def package_get(name: str, by: User, permission: str = VIEW) -> Package:
    """A package on which the person holds the permission. Raises NotFound."""
    rows = Package.objects.select_related("active", "team").filter(name=name)
    found = within(by, rows, permission).first()
    if found is None:
        raise NotFound(f"There is no package {name[:64]!r}.")
    return found


def package_named(name: str) -> Package:
    """A package, for an operator at the machine. Raises NotFound."""
    found = Package.objects.select_related("active").filter(name=name).first()
    if found is None:
        raise NotFound(f"There is no package {name[:64]!r}.")
    return found


def release_get(pk: int, by: User) -> Release:
    """A release of a package that the person sees. Raises NotFound."""
    rows = Release.objects.select_related("package__active").filter(pk=pk)
    found = about(by, rows, VIEW, package="package__name").first()
    if found is None:
        raise NotFound("There is no such release.")
    return found


def release_named(package: Package, version: str) -> Release:
    """Raises NotFound."""
    found = package.releases.select_related("package__active").filter(version=version).first()
    if found is None:
        raise NotFound(f"{package.name} has no release {version[:64]!r}.")
    return found


def releases_of(package: Package, count: int = 50) -> list[dict[str, Any]]:
    """The releases with the highest versions, highest first: `{release, state, reason, tools, relation}`.

    The release in use is always among them. `relation` is newer, older or same than that one, or None.
    """
    active = package.active
    rows_of = package.releases.defer("manifest", "lock")
    releases = rows_newest_first(rows_of, count, keep=package.active_id)
    versions = ToolVersion.objects.filter(release__in=releases).values_list(
        "release_id", "state", "state_reason"
    )
    by: dict[int, list[tuple[str, str]]] = {}
    for release_id, state, reason in versions:
        by.setdefault(release_id, []).append((state, reason))
    rows = []
    for release in releases:
        of = by.get(release.pk, [])
        states = {state for state, _ in of}
        state = states.pop() if len(states) == 1 else VersionState.QUARANTINED.value
        rows.append(
            {
                "release": release,
                "state": state,
                "reason": next((r for _, r in of if r), ""),
                "tools": len(of),
                "relation": relation(release.version, active.version) if active else None,
            }
        )
    return rows


def package_tools(package: Package, by: User, count: int = 200) -> list[Tool]:
    """Its tools that the person sees, by name, with their active versions."""
    rows = within(by, package.tools.select_related("active"), "registry.view_tool")
    return list(rows.defer("active__definition").order_by("name")[:count])


def release_zip(release: Release) -> bytes:
    """The release as a reproducible zip. Raises NotFound where none is kept."""
    archive = Archive.objects.filter(pk=release.digest).first()
    if archive is None:
        raise NotFound(f"The files of {release} are not kept.")
    return bytes(archive.content)


def dependencies_graph(package: Package, by: User) -> dict[str, Any]:
    """`{nodes, edges}`: the tools that this package's release in use asks for, and what these ask for.

    A package that the person does not see is left out: an edge to it says `""`, as to one that is not there.
    """
    nodes: dict[str, dict[str, Any]] = {}
    edges: list[dict[str, str]] = []
    pending = [package]
    while pending and len(nodes) < 500:
        one = pending.pop()
        if one.name in nodes:
            continue
        active = one.active
        nodes[one.name] = {"package": one.name, "version": active.version if active else None}
        needed = (active.manifest if active else {}).get("dependencies", {}).get("tools", {})
        found = {
            tool.name: tool
            for tool in within(
                by, Tool.objects.filter(name__in=list(needed)), "registry.view_tool"
            ).select_related("package__active", "active")
        }
        for tool, spec in sorted(needed.items()):
            known = found.get(tool)
            edges.append(
                {
                    "from": one.name,
                    "tool": tool,
                    "range": str(spec),
                    "to": known.package.name if known else "",
                }
            )
            if known:
                pending.append(known.package)
    return {"nodes": sorted(nodes.values(), key=lambda node: str(node["package"])), "edges": edges}
