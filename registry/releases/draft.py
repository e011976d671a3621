"""A release before it is published: its rows as they will be, none of them written."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import InvalidRequest
from core.json.canonical import canonical
from registry.contracts import PACKAGE_NAME, Contract, contract_read
from registry.models import Package, Release, Tool, ToolVersion
from registry.schemas import validator_build
from registry.versions import is_version
from toolhub_sdk.runtimes.registry import runtime_find, runtimes
from toolhub_sdk.runtimes.traits import Runtime


@dataclass(frozen=True)
class DraftTool:
    """One tool: its name in the hub, and its version's row with a tool that is not written either."""

    name: str
    contract: Contract
    version: ToolVersion


@dataclass(frozen=True)
class Draft:
    """A release with its tools. The release's package is not written either."""

    release: Release
    tools: tuple[DraftTool, ...]


def release_digest(manifest: Mapping[str, Any], files: Mapping[str, str]) -> str:
    """SHA-256, in hex, over the canonical form of the manifest with its files' digests (path → hex)."""
    return hashlib.sha256(canonical({"manifest": manifest, "files": files})).hexdigest()


def release_draft(
    *,
    manifest: Mapping[str, Any],
    files: Mapping[str, str],
    names: Mapping[str, str] | None = None,
    **more: Any,
) -> Draft:
    """The rows that a manifest makes. `names` gives tools other names in the hub; `more` is for the release.

    Raises InvalidRequest for a manifest that cannot be published.
    """
    name, version = str(manifest.get("name")), str(manifest.get("version"))
    if not PACKAGE_NAME.fullmatch(name):
        raise InvalidRequest(f"{name!r} cannot be a package's name.")
    if not is_version(version):
        raise InvalidRequest(f"{name}: {version!r} is not a version by semver 2.0.0.")
    runtime, tools = manifest.get("runtime"), manifest.get("tools")
    known = runtime_find(str(runtime.get("type"))) if isinstance(runtime, Mapping) else None
    entry = known.entry_of(runtime) if known and isinstance(runtime, Mapping) else None
    if known is None or not entry or not isinstance(tools, list) or not tools:
        raise InvalidRequest(
            f"{name}: a manifest has a runtime, with a type ({', '.join(runtimes())}) and what that carries "
            "out, and tools."
        )
    release = Release(
        package=Package(
            name=name,
            title=str(manifest.get("title", "")),
            description=str(manifest.get("description", "")),
        ),
        version=version,
        digest=release_digest(manifest, files),
        manifest=manifest,
        runner=known.name,
        entry=entry if isinstance(entry, str) else canonical(entry).decode(),
        **more,
    )
    return Draft(release, tuple(_tool_draft(release, known, one, names or {}) for one in tools))


def _tool_draft(
    release: Release, runtime: Runtime, definition: Mapping[str, Any], names: Mapping[str, str]
) -> DraftTool:
    contract = contract_read(definition)
    for which in ("inputSchema", "outputSchema"):
        if which in definition:
            validator_build(definition[which])
    name = names.get(definition["name"], definition["name"])
    version = ToolVersion(
        tool=Tool(name=name, package=release.package, category=contract.category),
        release=release,
        version=release.version,
        digest=hashlib.sha256(canonical({"release": release.digest, "definition": definition})).hexdigest(),
        definition=definition,
        runner=release.runner,
        entry=f"{release.entry}:{contract.function}" if runtime.names_functions else release.entry,
        required_capabilities=list(contract.required_capabilities),
        is_pure=contract.is_pure,
        is_idempotent=contract.is_idempotent,
        uses_network=contract.uses_network,
        takes_config=bool(release.manifest.get("config")),
        determinism=contract.determinism,
        timeout_ms=contract.timeout_ms,
        max_output_bytes=contract.max_output_bytes,
    )
    return DraftTool(name, contract, version)
