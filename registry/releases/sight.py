"""A release as a person is told it who does not see each of its tools: a team may keep some of them."""

from collections.abc import Mapping
from typing import Any

from core.errors import Denied
from registry.models import Archive, Release, Tool
from registry.releases.difference import Change, releases_compare
from registry.releases.selectors import release_zip
from security.models import User
from security.sharing.reach import within

SEE = "registry.view_tool"


def manifest_told(release: Release, by: User) -> dict[str, Any]:
    """The manifest without the tools that the person does not see, of this package and of those it needs."""
    manifest = dict(release.manifest)
    if unseen := _unseen(release, by):
        manifest["tools"] = [tool for tool in manifest.get("tools", ()) if tool["name"] not in unseen]
    needed = manifest.get("dependencies", {}).get("tools", {})
    if needed and (kept := _kept(needed, by)):
        tools = {name: span for name, span in needed.items() if name not in kept}
        manifest["dependencies"] = {**manifest["dependencies"], "tools": tools}
    return manifest


def changes_told(before: Release, after: Release, by: User) -> list[Change]:
    """What changed between two releases, of what the person sees."""
    return releases_compare(manifest_told(before, by), manifest_told(after, by))


def zip_told(release: Release, by: User) -> bytes:
    """As `release_zip`, for who sees each tool: code and manifest stand in it. Raises NotFound, Denied."""
    if Archive.objects.filter(pk=release.digest).exists() and manifest_told(release, by) != release.manifest:
        raise Denied(
            f"The files of {release} tell of tools that a team keeps from you.",
            suggestions=["Ask an admin for the files, or for the right to see all of its tools."],
        )
    return release_zip(release)


def _unseen(release: Release, by: User) -> frozenset[str]:
    """What the manifest calls the tools that the person does not see: a review may have renamed them."""
    unseen = release.tool_versions.exclude(tool__in=within(by, Tool.objects.all(), SEE).values("pk"))
    return frozenset(one["name"] for one in unseen.values_list("definition", flat=True))


def _kept(needed: Mapping[str, Any], by: User) -> frozenset[str]:
    known = Tool.objects.filter(name__in=list(needed))
    unseen = known.exclude(pk__in=within(by, known, SEE).values("pk"))
    return frozenset(unseen.values_list("name", flat=True))
