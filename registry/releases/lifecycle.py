"""Deprecating and withdrawing releases, and bringing them back."""

from django.db import transaction

from audit.ledger import Entry, record
from core.errors import Conflict, InvalidRequest
from registry.models import Package, Release, VersionState
from security.acting import By, acting

CHANGE = "registry.change_release"
REASON_MAX = 300


def release_deprecate(*, by: By, release: Release, reason: str) -> None:
    """Its tools go on working; callers are warned with the reason.

    Raises Denied, InvalidRequest, Conflict.
    """
    _set(by, release, VersionState.DEPRECATED, "release.deprecated", reason)


def release_yank(*, by: By, release: Release, reason: str) -> None:
    """Its tools refuse every call from now on, with the reason. The release in use cannot be withdrawn.

    Raises Denied, InvalidRequest, Conflict.
    """
    _set(by, release, VersionState.YANKED, "release.yanked", reason)


def release_restore(*, by: By, release: Release) -> None:
    """Takes deprecation or withdrawal back. Raises Denied, Conflict."""
    _set(by, release, VersionState.ACTIVE, "release.restored", "")


def _set(by: By, release: Release, state: VersionState, kind: str, reason: str) -> None:
    actor = acting(by, CHANGE, on=[release.package])
    reason = " ".join(reason.split())
    if state is not VersionState.ACTIVE and not 1 <= len(reason) <= REASON_MAX:
        message = f"Say why, in at most {REASON_MAX} characters: callers read it."
        raise InvalidRequest(message, errors=[{"pointer": "/reason", "message": message}])
    with transaction.atomic():
        package = Package.objects.select_for_update().get(pk=release.package_id)
        if package.uninstalled_at is not None:
            raise Conflict(f"{package.name} is uninstalled.")
        if Release.objects.filter(pk=release.pk, removed_at__isnull=False).exists():
            raise Conflict(f"{release} was removed with its package.", suggestions=["Install it again."])
        if state is VersionState.YANKED and package.active_id == release.pk:
            raise Conflict(
                f"{release} is in use.",
                suggestions=["Put another release in use first, then withdraw this one."],
            )
        release.tool_versions.exclude(state=VersionState.QUARANTINED).update(state=state, state_reason=reason)
        record(Entry(kind, actor, "package", package.name, {"version": release.version, "reason": reason}))
