"""The write doors of releases and assignments."""

import hashlib
from collections.abc import Mapping
from typing import Any

import semver
from django.db import IntegrityError, transaction

from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import Conflict, InvalidRequest, ToolHubError
from core.json.canonical import canonical
from registry.contracts import PACKAGE_NAME, contract_read
from registry.models import Assignment, Package, Release, Tool, ToolVersion
from registry.schemas import validator_build
from security.models import Persona, User
from security.permissions import actor_of, require


def release_digest(manifest: Mapping[str, Any], files: Mapping[str, str]) -> str:
    """SHA-256, in hex, over the canonical form of the manifest with its files' digests (path → hex)."""
    return hashlib.sha256(canonical({"manifest": manifest, "files": files})).hexdigest()


def release_publish(
    *, by: Actor, manifest: Mapping[str, Any], files: Mapping[str, str], activate: bool = True
) -> Release:
    """Publishes a package's release with all its tools, or nothing.

    Raises InvalidRequest for a bad manifest, ToolHubError ALREADY_REGISTERED for a version that
    exists or a tool name that another package holds.
    """
    name, version = str(manifest.get("name")), str(manifest.get("version"))
    if not PACKAGE_NAME.fullmatch(name):
        raise InvalidRequest(f"{name!r} cannot be a package's name.")
    if not semver.Version.is_valid(version):
        raise InvalidRequest(f"{name}: {version!r} is not a version by semver 2.0.0.")
    runtime, tools = manifest.get("runtime"), manifest.get("tools")
    if not (
        isinstance(runtime, Mapping)
        and {"type", "entry"} <= set(runtime)
        and isinstance(tools, list)
        and tools
    ):
        raise InvalidRequest(f"{name}: a manifest has a runtime with type and entry, and a list of tools.")
    digest = release_digest(manifest, files)
    try:
        with transaction.atomic():
            package, _ = Package.objects.get_or_create(name=name)
            package.title, package.description = (
                str(manifest.get("title", "")),
                str(manifest.get("description", "")),
            )
            package.save(update_fields=["title", "description"])
            release = Release.objects.create(
                package=package,
                version=version,
                digest=digest,
                manifest=manifest,
                runner=runtime["type"],
                entry=runtime["entry"],
            )
            names = [_tool_publish(release, definition, activate) for definition in tools]
            data = {"version": version, "digest": digest, "tools": names, "activated": activate}
            record(Entry("release.published", by, "package", name, data))
    except IntegrityError as error:
        raise ToolHubError(f"{name} {version} is published already.", code="ALREADY_REGISTERED") from error
    return release


def _tool_publish(release: Release, definition: Mapping[str, Any], activate: bool) -> str:
    contract = contract_read(definition)
    for which in ("inputSchema", "outputSchema"):
        if which in definition:
            validator_build(definition[which])
    tool, _ = Tool.objects.get_or_create(
        name=definition["name"], defaults={"package": release.package, "category": contract.category}
    )
    if tool.package_id != release.package_id:
        raise ToolHubError(f"The tool {tool.name} belongs to another package.", code="ALREADY_REGISTERED")
    version = ToolVersion.objects.create(
        tool=tool,
        release=release,
        version=release.version,
        digest=hashlib.sha256(canonical({"release": release.digest, "definition": definition})).hexdigest(),
        definition=definition,
        runner=release.runner,
        entry=f"{release.entry}:{contract.function}",
        required_capabilities=list(contract.required_capabilities),
        is_pure=contract.is_pure,
        is_idempotent=contract.is_idempotent,
        uses_network=contract.uses_network,
        determinism=contract.determinism,
        timeout_ms=contract.timeout_ms,
        max_output_bytes=contract.max_output_bytes,
    )
    if activate or tool.active_id is None:
        tool.active, tool.category = version, contract.category
        tool.save(update_fields=["active", "category"])
    return tool.name


def assignment_create(
    *, by: User, persona: Persona, tool: Tool | None = None, package: Package | None = None
) -> Assignment:
    """Lets a persona see and call one tool, or all tools of a package. Exactly one of the two is given."""
    require(by, "registry.add_assignment")
    target = tool or package
    if target is None or (tool and package):
        raise InvalidRequest("Assign one tool or one package.")
    try:
        with transaction.atomic():
            row = Assignment.objects.create(persona=persona, tool=tool, package=package, assigned_by=by)
            record(_assignment_entry("assignment.created", by, row))
    except IntegrityError as error:
        raise Conflict(f"{target.name} is assigned to {persona.name} already.") from error
    return row


def assignment_delete(*, by: User, assignment: Assignment) -> None:
    """Takes an assignment back; the next call sees it."""
    require(by, "registry.delete_assignment")
    with transaction.atomic():
        deleted, _ = Assignment.objects.filter(pk=assignment.pk).delete()
        if deleted:
            record(_assignment_entry("assignment.deleted", by, assignment))


def _assignment_entry(kind: str, by: User, row: Assignment) -> Entry:
    target = {"tool": row.tool.name} if row.tool else {"package": row.package.name if row.package else ""}
    return Entry(kind, actor_of(by), "persona", str(row.persona_id), {"persona": row.persona.name, **target})
