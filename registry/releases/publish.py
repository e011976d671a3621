"""The write door of releases: a draft becomes rows, all of them or none."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction

from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import ToolHubError
from core.identity import twin_of
from registry.event_kinds import RELEASE_PUBLISHED
from registry.models import Archive, Package, Release, Tool, VersionState
from registry.releases.activation import Activation, release_activate_tools
from registry.releases.draft import Draft, DraftTool, release_draft
from registry.versions import same_version
from security.policy.catalogue import capabilities_note
from toolhub_sdk.runtimes.registry import own_runtime


def release_publish(
    *, by: Actor, manifest: Mapping[str, Any], files: Mapping[str, str], activate: bool = True
) -> Release:
    """Publishes a release of the catalogue, whose code is the hub's own, with all its tools or nothing."""
    draft = release_draft(manifest=manifest, files=files)
    return draft_publish(by=by, draft=draft, activation=lambda used: activate or used is None)


def always(_used: str | None) -> bool:
    """Puts every release in use, as the catalogue needs: the code of its tools is that of the running hub."""
    return True


def draft_publish(
    *,
    by: Actor,
    draft: Draft,
    activation: Activation = always,
    archive: Archive | None = None,
    team: Group | None = None,
) -> Release:
    """Publishes a draft; `archive` holds its files. A removed release with the same digest comes back.

    A new package belongs to `team`. `activation` decides whether it replaces the release in use. Raises
    ToolHubError ALREADY_REGISTERED for a version that exists, with any build metadata, or a tool name that
    another package holds.
    """
    name, version = draft.release.package.name, draft.release.version
    try:
        with transaction.atomic():
            package, owner = _package_write(draft.release.package, team)
            own_check(name, draft.release.runner)
            if archive is not None:
                Archive.objects.bulk_create([archive], ignore_conflicts=True)
            release_new_check(draft, package)
            release, names = _returned(draft, package) or _written(draft, package)
            if package.uninstalled_at is not None:
                package.uninstalled_at = None
                package.save(update_fields=["uninstalled_at"])
            if activation(package.active.version if package.active else None):
                release_activate_tools(package, release)
            data = {
                "version": version,
                "digest": release.digest,
                "tools": names,
                "activated": package.active_id == release.pk,
                "reviewed": release.is_reviewed,
                "origin": release.origin,
                **owner,
            }
            record(Entry(RELEASE_PUBLISHED, by, "package", name, data))
    except IntegrityError as error:
        raise ToolHubError(f"{name} {version} is published already.", code="ALREADY_REGISTERED") from error
    return release


def release_new_check(draft: Draft, package: Package) -> None:
    """Raises ToolHubError ALREADY_REGISTERED where the package has the version, with any build metadata.

    A release that was removed may come back with the same content.
    """
    release = draft.release
    number = same_version(release.version, package.releases.values_list("version", flat=True))
    known = package.releases.filter(version=number).first() if number else None
    if known is None or (known.digest == release.digest and known.removed_at is not None):
        return
    if known.version != release.version:
        raise ToolHubError(
            f"{package.name} {release.version} differs from {known.version} in its build metadata only."
            " Build metadata makes no new version (semver 2.0.0 §10).",
            code="ALREADY_REGISTERED",
            suggestions=["Raise the major, minor or patch number."],
            data={"published": known.version, "offered": release.version},
        )
    if known.digest == release.digest:
        raise ToolHubError(f"{package.name} {known.version} is installed already.", code="ALREADY_REGISTERED")
    raise ToolHubError(
        f"{package.name} {known.version} was published with other content.",
        code="ALREADY_REGISTERED",
        suggestions=["Releases never change: give the new content a new version."],
        data={"published": known.digest, "offered": release.digest},
    )


def own_check(package: str, runner: str) -> None:
    """Raises ToolHubError ALREADY_REGISTERED when somebody's release would go into a package of the hub."""
    own = own_runtime().name
    if runner != own and Release.objects.filter(package__name=package, runner=own).exists():
        raise ToolHubError(
            f"{package} is a part of the hub.",
            code="ALREADY_REGISTERED",
            suggestions=["Give the package another name."],
        )


def _package_write(wanted: Package, team: Group | None) -> tuple[Package, dict[str, str]]:
    """The package's row, locked: publishing into one package is done one after the other.

    Also the owner of a new one, as the ledger has it.
    """
    _, is_new = Package.objects.get_or_create(name=wanted.name, defaults={"team": team})
    package = Package.objects.select_for_update().get(name=wanted.name)
    package.title, package.description = wanted.title[:120], wanted.description
    package.save(update_fields=["title", "description"])
    return package, {"team": team.name} if team and is_new else {}


def _written(draft: Draft, package: Package) -> tuple[Release, list[str]]:
    _twins_check([tool.name for tool in draft.tools])
    release = draft.release
    release.package = package
    release.save(force_insert=True)
    capabilities_note(name for tool in draft.tools for name in tool.contract.required_capabilities)
    return release, [_tool_write(tool, package, release) for tool in draft.tools]


def _twins_check(wanted: Sequence[str]) -> None:
    """Raise ToolHubError ALREADY_REGISTERED for a new tool whose name another tool has in other capitals."""
    known = set(Tool.objects.values_list("name", flat=True))
    for name in wanted:
        if name not in known and twin_of(name, known.union(wanted)):
            raise ToolHubError(
                f"A tool has the name {name} in other capitals.",
                code="ALREADY_REGISTERED",
                suggestions=["Give the tool another name in the review."],
                data={"tool": name},
            )


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
