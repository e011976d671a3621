"""The last step: the draft becomes a release, and the installation ends with it, in one transaction."""

from django.db import transaction
from django.utils import timezone

from core.actors import Actor
from registry.installations.job import Job
from registry.installations.models import Staged, Status
from registry.installations.verify import draft_of
from registry.models import Archive
from registry.releases.publish import draft_publish


def publish(job: Job) -> None:
    """Raises ToolHubError ALREADY_REGISTERED when another installation was first."""
    one = job.installation
    draft = draft_of(job)
    archive = Archive.objects.get(pk=draft.release.digest)
    with transaction.atomic():
        release = draft_publish(
            by=Actor(**one.choices["by"]),
            draft=draft,
            activate=bool(one.choices.get("activate", True)),
            archive=archive,
        )
        job.say(f"{release} is installed.")
        Staged.objects.filter(pk=one.pk).delete()
        job.write(
            status=Status.PUBLISHED,
            steps=job.step_mark("publish", "done"),
            release_id=release.pk,
            finished_at=timezone.now(),
            lease_token=None,
        )
