"""Keeping a run's files with its outcome, and removing them."""

import hashlib
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.db.models import Exists, OuterRef
from django.utils import timezone

from core.duties.rows import all_or_each
from execution.engine.outcomes import Files, files_view
from execution.features.artefacts.models import Artefact, Content

# So long nobody removes bytes that another run may just be leaving, too.
YOUNG = timedelta(hours=1)
BATCH = 200


def artefacts_keep(run_id: UUID, files: Files) -> None:
    """Keeps a run's files, in the transaction of its outcome."""
    by_digest = {hashlib.sha256(content).hexdigest(): content for _, content in files}
    now = timezone.now()
    # Sorted, so that two runs with the same files wait for each other in one order.
    Content.objects.bulk_create(
        [Content(digest=digest, content=by_digest[digest], used_at=now) for digest in sorted(by_digest)],
        update_conflicts=True,
        update_fields=["used_at"],
        unique_fields=["digest"],
    )
    Artefact.objects.bulk_create(
        Artefact(run_id=run_id, name=view["name"], size=view["size"], content_id=view["sha256"])
        for view in files_view(files)
    )


def artefacts_remove(run_ids: Sequence[UUID]) -> int:
    """Removes the files of runs; how many. The bytes go when no run has them any more."""
    return Artefact.objects.filter(run_id__in=run_ids).delete()[0]


def contents_expire() -> int:
    """The steward's duty: removes bytes that no run has any more; how many."""
    unused = Content.objects.filter(used_at__lt=timezone.now() - YOUNG).exclude(
        Exists(Artefact.objects.filter(content=OuterRef("pk")))
    )
    return all_or_each("artefacts", unused, _contents_delete, most=BATCH)


def _contents_delete(digests: Sequence[str]) -> int:
    # Asked again when it is deleted: who left the same bytes meanwhile made them young.
    free = Content.objects.filter(pk__in=digests, used_at__lt=timezone.now() - YOUNG)
    return free.only("digest").delete()[0]  # the bytes are not read for it
