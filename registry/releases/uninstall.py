"""Removing a package: its tools go at once, its runs, audit and digests stay."""

from collections.abc import Callable

from django.db import transaction
from django.utils import timezone

from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import NotFound, ToolHubError
from registry.collections.services import members_of_package_remove
from registry.config.schema import scope_of
from registry.event_kinds import PACKAGE_UNINSTALLED
from registry.models import Archive, Assignment, Package, Release, Tool, ToolVersion, VersionState
from registry.releases.affected import Affected, affected_by
from registry.store import release_folder_remove
from security.acting import By, acting, person_answering
from security.vault import secret_remove
from toolhub_sdk.runtimes.registry import own_runtime

REASON = "The package is uninstalled."


def package_uninstall(*, by: By, package: Package, force: bool = False) -> Affected:
    """Removes a package; gives back who was affected. A removed release can be installed again.

    Raises Denied, NotFound, and ToolHubError IN_USE while schedules, other packages or open runs need it,
    unless `force`.
    """
    actor = acting(by, "registry.delete_package", on=[package])
    with transaction.atomic():
        row = Package.objects.select_for_update().get(pk=package.pk)
        if row.uninstalled_at is not None:
            raise NotFound(f"{row.name} is not installed.")
        if row.releases.filter(runner=own_runtime().name).exists():
            raise ToolHubError(f"{row.name} is a part of the hub.", code="IN_USE")
        affected = affected_by(row)
        if affected.blocks and not force:
            told = affected if isinstance(by, Actor) else affected.told(person_answering(by))
            raise ToolHubError(
                f"{row.name} is still needed.", code="IN_USE", data={"needed_by": told.as_dict()}
            )
        digests = list(row.releases.values_list("digest", flat=True))
        Tool.objects.filter(package=row).update(active=None)
        # What is quarantined stays so: a removal is no review.
        ToolVersion.objects.filter(release__package=row).exclude(state=VersionState.QUARANTINED).update(
            state=VersionState.YANKED, state_reason=REASON
        )
        row.releases.filter(removed_at=None).update(removed_at=timezone.now())
        Assignment.objects.filter(package=row).delete()
        Assignment.objects.filter(tool__package=row).delete()
        members_of_package_remove(actor=actor, package=row)
        Archive.objects.filter(pk__in=digests).delete()
        row.active, row.uninstalled_at, row.config = None, timezone.now(), {}
        row.save(update_fields=["active", "uninstalled_at", "config"])
        # Whoever gets the name next gets no secrets with it.
        secret_remove(actor=actor, scope=scope_of(row.name))
        data = {"releases": digests, "force": force, "affected": affected.as_dict()}
        record(Entry(PACKAGE_UNINSTALLED, actor, "package", row.name, data))
        transaction.on_commit(_folders_remove(digests))
    return affected


def _folders_remove(digests: list[str]) -> Callable[[], None]:
    def remove() -> None:
        for digest in digests:
            if not Release.objects.filter(digest=digest, removed_at=None).exists():
                release_folder_remove(digest)

    return remove
