"""The write door of releases: a draft becomes rows, all of them or none."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction

from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import ToolHubError
from registry.models import Archive, Package, Release, Tool, VersionState
from registry.releases.activation import release_activate_tools
from registry.releases.draft import Draft, DraftTool, release_draft
from security.policy.catalogue import capabilities_note


def release_publish(
    *, by: Actor, manifest: Mapping[str, Any], files: Mapping[str, str], activate: bool = True
) -> Release:
    """Publishes a release of the catalogue, whose code is the hub's own, with all its tools or nothing."""
    return draft_publish(by=by, draft=release_draft(manifest=manifest, files=files), activate=activate)


def draft_publish(
    *, by: Actor, draft: Draft, activate: bool = True, archive: Archive | None = None
) -> Release:
    """Publishes a draft; `archive` holds its files. A removed release with the same digest comes back.

    A package's first release is activated in any case. Raises ToolHubError ALREADY_REGISTERED for a version
    that exists or a tool name that another package holds.
    """
    name, version = draft.release.package.name, draft.release.version
    try:
        with transaction.atomic():
            package = _package_write(draft.release.package)
            own_check(name, draft.release.runner)
            if archive is not None:
                Archive.objects.bulk_create([archive], ignore_conflicts=True)
            release, names = _returned(draft, package) or _written(draft, package)
            if package.uninstalled_at is not None:
                package.uninstalled_at = None
                package.save(update_fields=["uninstalled_at"])
            if activate or package.active_id is None:
                release_activate_tools(package, release)
            data = {
                "version": version,
                "digest": release.digest,
                "tools": names,
                "activated": package.active_id == release.pk,
                "reviewed": release.is_reviewed,
                "origin": release.origin,
            }
            record(Entry("release.published", by, "package", name, data))
    except IntegrityError as error:
        raise ToolHubError(f"{name} {version} is published already.", code="ALREADY_REGISTERED") from error
    return release


def own_check(package: str, runner: str) -> None:
    """Raises ToolHubError ALREADY_REGISTERED when somebody's release would go into a package of the hub."""
    own = Release.objects.filter(package__name=package, runner="builtin")
    if runner != "builtin" and own.exists():
        raise ToolHubError(
            f"{package} is a part of the hub.",
            code="ALREADY_REGISTERED",
            suggestions=["Give the package another name."],
        )


def _package_write(wanted: Package) -> Package:
    """The package's row, locked: publishing into one package is done one after the other."""
    Package.objects.get_or_create(name=wanted.name)
    package = Package.objects.select_for_update().get(name=wanted.name)
    package.title, package.description = wanted.title[:120], wanted.description
    package.save(update_fields=["title", "description"])
    return package


def _written(draft: Draft, package: Package) -> tuple[Release, list[str]]:
    release = draft.release
    release.package = package
    release.save(force_insert=True)
    capabilities_note(name for tool in draft.tools for name in tool.contract.required_capabilities)
    return release, [_tool_write(tool, package, release) for tool in draft.tools]


def _tool_write(made: DraftTool, package: Package, release: Release) -> str:
    tool, _ = Tool.objects.get_or_create(
        name=made.name, defaults={"package": package, "category": made.contract.category}
    )
    if tool.package_id != package.pk:
        raise ToolHubError(
            f"The tool {tool.name} belongs to another package.",
            code="ALREADY_REGISTERED",
            suggestions=["Give the tool another name in the review."],
            data={"tool": tool.name},
        )
    version = made.version
    version.tool, version.release = tool, release
    version.save(force_insert=True)
    return tool.name


def _returned(draft: Draft, package: Package) -> tuple[Release, list[str]] | None:
    """The same release of a package that was removed: published again, with the versions it had."""
    known = Release.objects.filter(package=package, version=draft.release.version).first()
    if known is None or known.removed_at is None or known.digest != draft.release.digest:
        return None
    known.is_reviewed, known.origin = draft.release.is_reviewed, draft.release.origin
    # The lock is not in the digest: what was reviewed and tested now is what counts.
    known.lock, known.removed_at = draft.release.lock, None
    known.save(update_fields=["is_reviewed", "origin", "lock", "removed_at"])
    versions = known.tool_versions.exclude(state=VersionState.QUARANTINED)
    versions.update(state=VersionState.ACTIVE, state_reason="")
    return known, list(known.tool_versions.order_by("tool__name").values_list("tool__name", flat=True))
