"""Nothing half-installed stays: what an installation staged goes when it ends without a release."""

import shutil

from django.conf import settings
from django.db.models import Q

from registry.installations.models import OPEN, Installation, Staged, Status
from registry.models import Archive, Release


def staged_remove(one: Installation) -> None:
    """Removes what was fetched, and the archive that no release and no other installation needs."""
    Staged.objects.filter(pk=one.pk).delete()
    if not one.digest:
        return
    wanted = Q(status__in=OPEN) | Q(status=Status.FAILED, staged__isnull=False)
    others = Installation.objects.filter(wanted, digest=one.digest).exclude(pk=one.pk)
    # In this order: one that is not open any more has published its release before.
    if others.exists() or Release.objects.filter(digest=one.digest, removed_at=None).exists():
        return
    Archive.objects.filter(pk=one.digest).delete()
    shutil.rmtree(settings.DATA / "releases" / one.digest, ignore_errors=True)
