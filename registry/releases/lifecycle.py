"""Deprecating, withdrawing and setting apart releases, and bringing them back."""

from django.db import transaction

from audit.kinds import EventKind
from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import Conflict, Denied, InvalidRequest
from registry.event_kinds import RELEASE_DEPRECATED, RELEASE_QUARANTINED, RELEASE_RESTORED, RELEASE_YANKED
from registry.models import Package, Release, VersionState
from security.acting import By, acting
from security.loosening import safeguard_change, safeguarded
from security.safeguards import RELEASE_STATES

CHANGE = "registry.change_release"
REASON_MAX = 300


@safeguarded("release.deprecate")
def release_deprecate(*, by: By, release: Release, reason: str) -> None:
    """Its tools go on working; callers are warned with the reason.

    Raises Denied, InvalidRequest, Conflict.
    """
    _set(by, release, VersionState.DEPRECATED, RELEASE_DEPRECATED, reason)


def release_yank(*, by: By, release: Release, reason: str) -> None:
    """Its tools refuse every call from now on, with the reason. The release in use cannot be withdrawn.

    Raises Denied, InvalidRequest, Conflict.
    """
    _set(by, release, VersionState.YANKED, RELEASE_YANKED, reason)


def release_quarantine(*, by: By, release: Release, reason: str) -> None:
    """Its tools refuse every call until a person has reviewed it: also those in use, runs that wait included.

    Raises Denied, InvalidRequest, Conflict.
    """
    _set(by, release, VersionState.QUARANTINED, RELEASE_QUARANTINED, reason)


@safeguarded("release.restore")
def release_restore(*, by: By, release: Release) -> None:
    """Takes deprecation or withdrawal back, and quarantine: that by a person only, who has reviewed it.

    Raises Denied, Conflict.
    """
    _set(by, release, VersionState.ACTIVE, RELEASE_RESTORED, "")


def _set(by: By, release: Release, state: VersionState, kind: EventKind, reason: str) -> None:
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
        held = release.tool_versions.filter(state=VersionState.QUARANTINED)
        if state is not VersionState.QUARANTINED and held.exists():
            _review_check(by, release, state)
        states = {"state": _strictest(release)}, {"state": str(state)}
        rule = safeguard_change(by, "release", ("package", package.name), *states, package)
        release.tool_versions.update(state=state, state_reason=reason)
        data = {"version": release.version, "reason": reason, **rule}
        record(Entry(kind, actor, "package", package.name, data))


def _strictest(release: Release) -> str:
    states = {str(one) for one in release.tool_versions.values_list("state", flat=True)}
    return max(states, key=RELEASE_STATES.index, default="active")


def _review_check(by: By, release: Release, state: VersionState) -> None:
    """What is in quarantine comes out by a person's review, and by no other change."""
    if state is not VersionState.ACTIVE:
        raise Conflict(f"{release} is in quarantine.", suggestions=["Review it, and restore it first."])
    if isinstance(by, Actor):
        raise Denied(
            f"{release} is in quarantine. A person who signs in reviews and restores it.",
            suggestions=["Restore it on the page of the package."],
        )
