"""The first step: gets the package's files from their source, as one zip."""

from registry.archives.contents import MANIFEST, contents_check
from registry.archives.zips import zip_read, zip_write
from registry.installations.job import Job
from registry.installations.models import SourceType, Staged
from registry.installations.sources.git import git_fetch
from registry.installations.sources.source import Fetched
from registry.installations.sources.url import url_fetch


def fetch(job: Job) -> None:
    """Stages the files. Raises ToolHubError SOURCE_REFUSED, SOURCE_FAILED, PACKAGE_REFUSED, CANCELLED."""
    got = _fetched(job)
    contents_check(got.contents)
    job.check()
    Staged.objects.update_or_create(
        installation=job.installation, defaults={"content": zip_write(got.contents)}
    )
    # The whole address is not needed any more.
    job.write(report={**job.installation.report, **got.facts}, sealed_location="")
    job.say(f"{len(got.contents):,} files, {sum(map(len, got.contents.values())):,} bytes")


def _fetched(job: Job) -> Fetched:
    one = job.installation
    if one.source_type == SourceType.GIT:
        return git_fetch(job)
    if one.source_type == SourceType.URL:
        return url_fetch(job)
    contents = zip_read(job.content)
    return Fetched(
        {path: contents[path] for path in sorted(contents, key=lambda path: (path != MANIFEST, path))}, {}
    )
