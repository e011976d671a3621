"""The second step: is it a package, and is it whole? Its digest is known from here on."""

from typing import Any

from core.errors import InvalidRequest
from registry.archives.contents import MANIFEST, Contents, digests_of
from registry.archives.zips import zip_read, zip_write
from registry.installations.job import Job
from registry.manifests import manifest_problems, manifest_read, problems_raise
from registry.models import Archive
from registry.releases.draft import Draft, release_draft
from registry.releases.publish import name_check


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
    draft = draft_of(job, contents)
    release = draft.release
    if release.runner == "builtin":
        raise InvalidRequest("Only the hub's own catalogue is builtin.", code="INVALID_MANIFEST")
    name_check(release.package.name)
    content = zip_write(contents)
    archive = Archive(digest=release.digest, content=content, size=len(content), files=digests_of(contents))
    Archive.objects.bulk_create([archive], ignore_conflicts=True)
    job.write(package=release.package.name, version=release.version, digest=release.digest)
    job.say(f"{release.package.name} {release.version}, SHA-256 {release.digest}")
