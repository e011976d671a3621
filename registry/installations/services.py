"""The write doors of installations: start, cancel, try again. The review's is in approval.py."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import InvalidRequest, NotFound, ToolHubError
from registry.archives.contents import Contents, path_check
from registry.archives.zips import zip_write
from registry.event_kinds import INSTALLATION_CANCEL_ASKED, INSTALLATION_RETRIED, INSTALLATION_STARTED
from registry.installations.bells import ring_after_commit
from registry.installations.cleaning import staged_remove
from registry.installations.four_eyes import INSTALL, responsible
from registry.installations.models import OPEN, STEPS, Installation, SourceType, Staged, Status
from registry.installations.ownership import team_chosen
from registry.installations.source_form import Source, source_check
from registry.installations.sources.zip_address import address_sealed, address_shown, is_forgotten
from registry.installations.steps import steps_stop
from registry.models import Package
from security.acting import By, acting
from toolhub_sdk.checks.contents import ARCHIVE_BYTES_MAX

OPEN_MAX = 100
# Of them one person's, and those of the agents that the person is responsible for.
OPEN_MAX_OWN = 20


def installation_start(
    *, by: By, source: Source, content: bytes | None = None, team: str | None = None, queued: bool = True
) -> Installation:
    """A new installation; `content` is the uploaded zip. Workers take it up unless `queued` is false.

    `team` names the team that it belongs to (ownership.py: team_chosen).

    Raises Denied, InvalidRequest with pointers into the source, ToolHubError OVERLOADED.
    """
    actor = acting(by, INSTALL)
    source_check(source)
    is_url = source.type == SourceType.URL
    location = address_shown(source.location) if is_url else source.location
    person, owner = responsible(by), team_chosen(by, team)
    if (content is None) != (source.type in {SourceType.GIT, SourceType.URL}):
        raise InvalidRequest("A zip comes with the types upload and folder, and with no other.")
    if content is not None and len(content) > ARCHIVE_BYTES_MAX:
        raise InvalidRequest(f"The archive is larger than {ARCHIVE_BYTES_MAX} bytes.", code="PACKAGE_REFUSED")
    with transaction.atomic():
        _room_check(person)
        one = Installation.objects.create(
            source_type=source.type,
            location=location,
            sealed_location=address_sealed(source.location) if is_url else "",
            ref=source.ref,
            path=source.path,
            expected_digest=source.digest,
            asked_by=asdict(actor),
            person_id=person,
            team=owner,
        )
        if content is not None:
            Staged.objects.create(installation=one, content=content)
        data = {"type": source.type, "location": location, "ref": source.ref}
        data |= {"team": owner.name} if owner else {}
        record(Entry(INSTALLATION_STARTED, actor, "installation", str(one.pk), data))
        if queued:
            ring_after_commit()
    return one


def _room_check(person: int | None) -> None:
    """Raises ToolHubError OVERLOADED when too many installations are open: the person's own, or all."""
    rows = Installation.objects.filter(status__in=OPEN)
    if person is not None and rows.filter(person_id=person).count() >= OPEN_MAX_OWN:
        message = f"{OPEN_MAX_OWN} of your installations are open. Finish or cancel some of them."
    elif rows.count() >= OPEN_MAX:
        message = f"{OPEN_MAX} installations are open. Finish or cancel some of them."
    else:
        return
    raise ToolHubError(message, code="OVERLOADED", suggestions=[message], retry_after=60)


def folder_contents_zip(contents: Contents) -> bytes:
    """A folder's files as what an upload brings."""
    return zip_write({path_check(path): content for path, content in contents.items()})


def installation_cancel(*, by: By, installation: Installation) -> Installation:
    """Stops an installation: at once where nobody works on it, else within seconds.

    Raises Denied, ToolHubError ALREADY_FINISHED.
    """
    actor = acting(by, INSTALL, on=_known(installation))
    with transaction.atomic():
        row = Installation.objects.select_for_update().get(pk=installation.pk)
        if not row.is_open and not (
            row.status == Status.FAILED and Staged.objects.filter(pk=row.pk).exists()
        ):
            raise ToolHubError("The installation has ended.", code="ALREADY_FINISHED")
        if row.status == Status.RUNNING:
            row.cancel_asked_at = timezone.now()
            row.save(update_fields=["cancel_asked_at"])
        else:
            row.status, row.finished_at = Status.CANCELLED, timezone.now()
            row.steps, row.sealed_location = steps_stop(row.steps), ""
            row.save(update_fields=["status", "finished_at", "steps", "sealed_location"])
            staged_remove(row)
        data = {"package": row.package, "version": row.version}
        record(Entry(INSTALLATION_CANCEL_ASKED, actor, "installation", str(row.pk), data))
    return row


def _known(installation: Installation) -> list[Package]:
    """The package that is changed, where it is there already."""
    return list(Package.objects.filter(name=installation.package)) if installation.package else []


def installation_retry(*, by: By, installation: Installation) -> Installation:
    """Takes a failed installation up again at the step that failed; from the first where that is gone.

    Raises Denied, ToolHubError WRONG_STEP when there is nothing left to go on with.
    """
    actor = acting(by, INSTALL, on=_known(installation))
    with transaction.atomic():
        # The row's lock holds off the steward, who takes away what old ones fetched.
        row = Installation.objects.select_for_update().get(pk=installation.pk)
        again: dict[str, Any] = {}
        if not Staged.objects.filter(pk=row.pk).exists():
            if row.source_type not in {SourceType.GIT, SourceType.URL} or is_forgotten(row):
                raise ToolHubError("What was fetched is gone. Start anew.", code="WRONG_STEP")
            # What comes now may be something else: it is reviewed again.
            again = {"step": STEPS[0], "steps": [], "choices": {}, "report": {}, "digest": "", "lock": ""}
        installation_move(
            row,
            [Status.FAILED],
            Q(),
            **again,
            status=Status.QUEUED,
            error=None,
            finished_at=None,
            cancel_asked_at=None,
            attempt=0,
        )
        data = {"package": row.package, "version": row.version}
        record(Entry(INSTALLATION_RETRIED, actor, "installation", str(row.pk), data))
        ring_after_commit()
    return installation_get(str(installation.pk))


def installation_get(pk: str) -> Installation:
    """Raises NotFound."""
    found = Installation.objects.select_related("release__package").filter(pk=pk).first()
    if found is None:
        raise NotFound("There is no such installation.")
    return found


def installation_move(one: Installation, sources: Sequence[Status], only: Q, **columns: Any) -> None:
    """Changes the row if it is where it is thought to be. Raises ToolHubError WRONG_STEP."""
    if not Installation.objects.filter(only, pk=one.pk, status__in=sources).update(**columns):
        now = Installation.objects.filter(pk=one.pk).values_list("status", flat=True).first()
        raise ToolHubError(
            f"The installation is {now or 'gone'}, or what it brings is not what you saw.",
            code="WRONG_STEP",
            data={"status": now},
        )


def system_actor(name: str) -> Actor:
    """An operator at the machine, who acts as the hub."""
    return Actor("system", "", name)
