"""The third step: gathers what a careful person wants to know before the package may be used."""

from typing import Any

from registry.archives.contents import Contents, digests_of
from registry.environments import dependencies_of, lock_make
from registry.installations.job import Job
from registry.installations.tool_report import tool_report
from registry.installations.verify import contents_of, draft_of, node_lock_of, requirements_of
from registry.lint.installed import release_warnings
from registry.models import Archive, Package, Release, Tool, ToolVersion
from registry.releases.difference import Change, releases_compare
from registry.releases.draft import Draft
from registry.releases.publish import own_check, release_new_check
from registry.versions import range_holds, rows_newest_first
from security.models import User
from security.sharing.reach import within

SEE_TOOL = "registry.view_tool"
# Of a package's files and of those that changed, so many stand in the review.
PATHS_SHOWN = 300


def inspect(job: Job) -> None:
    """Writes the report: tools, warnings, dependencies, size, difference. Raises ToolHubError."""
    contents = contents_of(job)
    draft = draft_of(job, contents)
    _refuse_known(draft)
    called = _names_before(draft.release.package.name)
    manifest = draft.release.manifest
    lock = _lock(job, manifest, contents)
    used = _used(draft)
    report = {
        **job.installation.report,
        "title": manifest.get("title", ""),
        "description": manifest.get("description", ""),
        "author": manifest.get("author"),
        "license": manifest.get("license", ""),
        "runner": draft.release.runner,
        "files": len(contents),
        "paths": sorted(contents)[:PATHS_SHOWN],
        "changed_files": _files_changed(used, contents),
        "bytes": sum(map(len, contents.values())),
        "tools": [tool_report(one, draft, called) for one in draft.tools],
        "dependencies": dependencies_of(lock),
        "needs": _needs(manifest, job.installation.person),
        "warnings": [
            {"code": one.code, "pointer": one.pointer, "message": one.message}
            for one in release_warnings(manifest, contents)
        ],
        "compared_with": used.version if used else None,
        "difference": [change.as_dict() for change in _difference(used, draft)],
    }
    job.write(lock=lock, report=report)
    counts = {"tools": draft.tools, "warnings": report["warnings"], "changes": report["difference"]}
    job.say(", ".join(f"{name}: {len(found)}" for name, found in counts.items()))


def _files_changed(used: Release | None, contents: Contents) -> list[str]:
    """Files that differ from those of the release in use, as `+ new`, `- gone` and `~ changed`."""
    archive = Archive.objects.filter(pk=used.digest).defer("content").first() if used else None
    if archive is None:
        return []
    old, new = archive.files, digests_of(contents)
    found = [f"+ {path}" for path in new.keys() - old.keys()]
    found += [f"- {path}" for path in old.keys() - new.keys()]
    found += [f"~ {path}" for path in new.keys() & old.keys() if new[path] != old[path]]
    return sorted(found, key=lambda line: line[2:])[:PATHS_SHOWN]


def _refuse_known(draft: Draft) -> None:
    own_check(draft.release.package.name, draft.release.runner)
    package = Package.objects.filter(name=draft.release.package.name).first()
    if package is not None:
        release_new_check(draft, package)


def _lock(job: Job, manifest: dict[str, Any], contents: Contents) -> str:
    if node := node_lock_of(manifest, contents):
        return node
    requirements = requirements_of(manifest, contents)
    return lock_make(requirements, say=job.say, cancelled=job.cancelled) if requirements else ""


def _used(draft: Draft) -> Release | None:
    package = Package.objects.filter(name=draft.release.package.name).select_related("active").first()
    return package.active if package else None


def _difference(used: Release | None, draft: Draft) -> list[Change]:
    return releases_compare(used.manifest, draft.release.manifest) if used else []


def _needs(manifest: dict[str, Any], person: User | None) -> list[dict[str, Any]]:
    """The tools that the package asks for: `{tool, range, version, fits}`, by the version in use.

    The version is None, and nothing is said of its fit, where no tool is that who asked sees: else any name
    could be asked for, to hear its version.
    """
    asked = manifest.get("dependencies", {}).get("tools", {})
    here = Tool.objects.filter(name__in=list(asked), active__isnull=False)
    here = within(person, here, SEE_TOOL) if person else here
    versions = dict(here.values_list("name", "active__version"))
    return [
        {"tool": name, "range": str(span), "version": versions.get(name)}
        | ({"fits": range_holds(str(span), str(versions[name]))} if name in versions else {})
        for name, span in sorted(asked.items())
    ]


def _names_before(package: str) -> dict[str, str]:
    """The names in the hub that a review gave tools of this package: their own → those.

    Those of the release in use count, then those of the highest version.
    """
    known = Package.objects.filter(name=package).first()
    highest = rows_newest_first(known.releases.only("version"), 1) if known else []
    found = {}
    for release in (*(one.pk for one in highest), known.active_id if known else None):
        for version in ToolVersion.objects.filter(release=release).select_related("tool"):
            found[version.definition["name"]] = version.tool.name
    return found
