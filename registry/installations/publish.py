"""The last step: the draft becomes a release, and the installation ends with it, in one transaction."""

from django.db import transaction
from django.utils import timezone

from core.actors import Actor
from registry.archives.contents import digests_of
from registry.archives.zips import zip_write
from registry.installations.job import Job
from registry.installations.models import Staged, Status
from registry.installations.verify import contents_of, draft_of
from registry.models import Archive
from registry.releases.activation import activation_chosen
from registry.releases.publish import draft_publish


def publish(job: Job) -> None:
    """Raises ToolHubError ALREADY_REGISTERED when another installation was first, CANCELLED."""
    one = job.installation
    contents = contents_of(job)
    draft = draft_of(job, contents)
    # Made anew: another installation of the same content may have taken its own away.
    content = zip_write(contents)
    release_version = draft.release.version
    archive = Archive(
        digest=draft.release.digest, content=content, size=len(content), files=digests_of(contents)
    )
    with transaction.atomic():
        release = draft_publish(
            by=Actor(**one.choices["by"]),
            draft=draft,
            activation=activation_chosen(
                release_version,
                activate=bool(one.choices.get("activate")),
                seen=one.report.get("compared_with"),
            ),
            archive=archive,
            team=one.team,
        )
        used = release.package.active
        job.say(f"{release} is installed.")
        job.say(f"{used.version if used else 'No release'} of {release.package.name} is in use.")
        Staged.objects.filter(pk=one.pk).delete()
        job.leave(
            status=Status.PUBLISHED,
            steps=job.step_mark("publish", "done"),
            release_id=release.pk,
            finished_at=timezone.now(),
        )
