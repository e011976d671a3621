"""Which release of a package is in use: a change of rows only, so that a roll back is at once."""

from collections.abc import Callable

from django.db import transaction

from audit.ledger import Entry, record
from core.errors import Conflict
from registry.event_kinds import RELEASE_ACTIVATED
from registry.fallbacks import fallbacks_check
from registry.models import Package, Release, Tool, ToolVersion, VersionState
from registry.versions import is_prerelease, relation
from security.acting import By, acting

# Decides from the version in use (None: none) whether a release that is being published replaces it.
Activation = Callable[[str | None], bool]


def activation_objection(version: str, used: str | None) -> str:
    """Why a release is not put in use unless a person chooses it; empty for one that is.

    It is for a pre-release, and for one that is not newer than the release in use.
    """
    if used is not None and relation(version, used) != "newer":
        return f"{version} is {relation(version, used)} than {used}, which is in use."
    return f"{version} is a pre-release." if is_prerelease(version) else ""


def activation_chosen(version: str, *, activate: bool, seen: str | None) -> Activation:
    """What a review decided. `seen` is the version that was in use at the review.

    Where another release has come in use since, the choice holds only for one that is newer: the reviewer
    chose no step back from it.
    """

    def decide(used: str | None) -> bool:
        return activate and (used in {None, seen} or relation(version, str(used)) == "newer")

    return decide


def release_activate(*, by: By, release: Release) -> Release:
    """Puts a release's tools in use; calls that name no version get them from the next one on.

    A tool of the package that the release does not have is not offered any more, and comes back with a
    release that has it. Raises Denied, and Conflict for a release that was withdrawn.
    """
    actor = acting(by, "registry.change_release", on=[release.package])
    with transaction.atomic():
        package = Package.objects.select_for_update().get(pk=release.package_id)
        before = package.active
        if before is not None and before.pk == release.pk:
            return release
        callable_now = release.tool_versions.exclude(
            state__in=[VersionState.YANKED, VersionState.QUARANTINED]
        )
        removed = Release.objects.filter(pk=release.pk, removed_at__isnull=False).exists()
        if package.uninstalled_at is not None or removed or not callable_now.exists():
            raise Conflict(f"{release} is withdrawn; it cannot be put in use.")
        release_activate_tools(package, release)
        data = {
            "version": release.version,
            "before": before.version if before else None,
            "relation": relation(release.version, before.version) if before else None,
        }
        record(Entry(RELEASE_ACTIVATED, actor, "package", package.name, data))
    return release


def release_activate_tools(package: Package, release: Release) -> None:
    """Points the package and its tools at the release, in the caller's transaction.

    Raises InvalidRequest where fallbacks would go round in a circle.
    """
    versions = {version.tool_id: version for version in release.tool_versions.all()}
    tools = list(Tool.objects.select_for_update().filter(package=package))
    for tool in tools:
        tool.active = versions.get(tool.pk)
        if tool.active is not None:
            tool.category = tool.overlay.get("category") or _category(tool.active)
    Tool.objects.bulk_update(tools, ["active", "category"])
    fallbacks_check({tool.name: tool.active.definition for tool in tools if tool.active})
    package.active = release
    package.save(update_fields=["active"])


def _category(version: ToolVersion) -> str:
    return str(version.declared.get("category", "custom"))
