"""Nothing half-installed stays: what an installation staged goes when it ends without a release."""

from uuid import UUID

from django.db import transaction
from django.db.models.functions import Length

from core.duties.rows import each_of
from registry.installations.models import Installation, Staged, Status
from registry.installations.selectors import going_on
from registry.models import Archive, Release
from registry.store import release_folder_remove

# All that failed installations keep for another try, in bytes.
FAILED_BYTES_MAX = 256 * 1024 * 1024


def staged_remove(one: Installation) -> None:
    """Removes what was fetched, and the archive that no release and no other installation needs."""
    Staged.objects.filter(pk=one.pk).delete()
    if not one.digest:
        return
    others = going_on().filter(digest=one.digest).exclude(pk=one.pk)
    # In this order: one that is not open any more has published its release before.
    if others.exists() or Release.objects.filter(digest=one.digest, removed_at=None).exists():
        return
    Archive.objects.filter(pk=one.digest).delete()
    release_folder_remove(one.digest)


def failed_bound() -> int:
    """Removes what the oldest failed installations keep beyond FAILED_BYTES_MAX; returns how many those were.

    One in the bound may be tried again as it is, another has to start anew.
    """
    rows = Staged.objects.filter(installation__status=Status.FAILED).order_by("-installation__finished_at")
    left = FAILED_BYTES_MAX
    over = []
    for pk, size in rows.annotate(size=Length("content")).values_list("pk", "size"):
        left -= size
        if left < 0:
            over.append(pk)
    return each_of("staged", over, failed_remove)


def failed_remove(pk: UUID) -> bool:
    """Removes what a failed installation keeps, unless it was taken up again meanwhile."""
    with transaction.atomic():
        one = Installation.objects.select_for_update().filter(pk=pk, status=Status.FAILED).first()
        if one is None:
            return False
        staged_remove(one)
        Installation.objects.filter(pk=pk).update(sealed_location="")
        return True
