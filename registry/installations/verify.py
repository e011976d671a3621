"""The second step: is it a package, and is it whole? Its digest is known from here on."""

from collections.abc import Mapping
from typing import Any

from core.errors import Denied, InvalidRequest
from registry.archives.contents import MANIFEST, Contents, digests_of
from registry.archives.zips import zip_read, zip_write
from registry.environments import requirements_read
from registry.installations.four_eyes import INSTALL
from registry.installations.job import Job
from registry.manifests import manifest_problems, manifest_read, problems_raise
from registry.models import Archive, Package
from registry.node_environments import node_lock_make
from registry.releases.draft import Draft, release_draft
from security.sharing.reach import may
from security.sharing.remedies import who_may_share
from toolhub_sdk.checks.files import file_problems
from toolhub_sdk.runtimes.registry import runtime_of
from toolhub_sdk.runtimes.traits import Packages

SEE_PACKAGE = "registry.view_package"


def contents_of(job: Job) -> Contents:
    """The files as they were fetched."""
    return zip_read(job.content)


def manifest_of(contents: Contents) -> dict[str, Any]:
    """The package's manifest, checked. Raises ToolHubError INVALID_MANIFEST with pointers."""
    if MANIFEST not in contents:
        message = f"The package has no {MANIFEST} at its top."
        raise InvalidRequest(message, code="INVALID_MANIFEST", errors=[{"pointer": "", "message": message}])
    manifest = manifest_read(contents[MANIFEST])
    problems_raise(manifest_problems(manifest))
    return manifest


def package_check(contents: Contents) -> dict[str, Any]:
    """The manifest of files that a hub takes: `toolhub_sdk check` says the same of them.

    Raises ToolHubError INVALID_MANIFEST and REQUIREMENTS_REFUSED with pointers.
    """
    manifest = manifest_of(contents)
    problems_raise(list(file_problems(manifest, contents)))
    requirements_of(manifest, contents)
    node_lock_of(manifest, contents)
    return manifest


def requirements_of(manifest: Mapping[str, Any], contents: Contents) -> list[str]:
    """What a checked manifest's requirements file asks for. Raises ToolHubError REQUIREMENTS_REFUSED."""
    named = _requires(manifest, Packages.WHEELS)
    if not named:
        return []
    try:
        text = contents[named].decode()
    except UnicodeDecodeError as error:
        message = f"{named} is not text in UTF-8."
        at = [{"pointer": "/runtime/requires", "message": message}]
        raise InvalidRequest(message, code="REQUIREMENTS_REFUSED", errors=at) from error
    return requirements_read(text)


def node_lock_of(manifest: Mapping[str, Any], contents: Contents) -> str:
    """The lock of a program's Node packages, empty without any. Raises ToolHubError REQUIREMENTS_REFUSED."""
    named = _requires(manifest, Packages.NODE)
    return node_lock_make(named, contents) if named else ""


def _requires(manifest: Mapping[str, Any], kind: Packages) -> str:
    """The path of the file that lists packages of this kind; empty where there is none."""
    runtime = manifest["runtime"]
    is_kind = runtime_of(runtime["type"]).packages is kind
    return str(runtime.get("requires", "")) if is_kind else ""


def draft_of(job: Job, contents: Contents | None = None) -> Draft:
    """The release as it would be published, with what was decided so far."""
    contents = contents_of(job) if contents is None else contents
    one = job.installation
    origin = {"type": one.source_type, "location": one.location, "ref": one.ref, "path": one.path}
    origin |= {name: one.report[name] for name in ("commit", "fetched_sha256") if name in one.report}
    return release_draft(
        manifest=manifest_of(contents),
        files=digests_of(contents),
        names=one.choices.get("names", {}),
        lock=one.lock,
        is_reviewed=bool(one.choices.get("reviewed")),
        origin={name: value for name, value in origin.items() if value},
    )


def verify(job: Job) -> None:
    """Checks the manifest and keeps the archive under the release's digest. Raises ToolHubError."""
    contents = contents_of(job)
    package_check(contents)
    release = draft_of(job, contents).release
    _refuse_others(job, release.package.name)
    content = zip_write(contents)
    archive = Archive(digest=release.digest, content=content, size=len(content), files=digests_of(contents))
    Archive.objects.bulk_create([archive], ignore_conflicts=True)
    job.write(package=release.package.name, version=release.version, digest=release.digest)
    job.say(f"{release.package.name} {release.version}, SHA-256 {release.digest}")


def _refuse_others(job: Job, name: str) -> None:
    """A package that a team keeps is changed by those who reach it; others hear that its name is taken.

    Before the installation is of that package: who asked for it could not read then why it failed.
    """
    person, package = job.installation.person, Package.objects.filter(name=name).first()
    if person is not None and package is not None and not may(person, INSTALL, package):
        who = who_may_share(package) if may(person, SEE_PACKAGE, package) else "an admin"
        raise Denied(
            f"There is a package {name} already, which {person.get_username()} may not change.",
            suggestions=["Give the package another name.", f"Ask {who} for the right."],
        )
