"""The write doors of installations: start, decide, cancel, try again."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import Denied, InvalidRequest, NotFound, ToolHubError
from registry.archives.contents import Contents, path_check
from registry.archives.zips import ARCHIVE_BYTES_MAX, zip_write
from registry.contracts import TOOL_NAME
from registry.installations.bells import ring_after_commit
from registry.installations.cleaning import staged_remove
from registry.installations.models import OPEN, STEPS, Installation, SourceType, Staged, Status
from registry.installations.source_form import Source, source_check
from registry.models import Package, Tool
from security.acting import By, acting
from security.models import User
from security.principals import PersonaPrincipal
from toolhub_sdk.checks.names import RESERVED

INSTALL = "registry.add_release"
OPEN_MAX = 100


def installation_start(
    *, by: By, source: Source, content: bytes | None = None, queued: bool = True
) -> Installation:
    """A new installation; `content` is the uploaded zip. Workers take it up unless `queued` is false.

    Raises Denied, InvalidRequest with pointers into the source, ToolHubError OVERLOADED.
    """
    actor = acting(by, INSTALL)
    source_check(source)
    if (content is None) != (source.type in {SourceType.GIT, SourceType.URL}):
        raise InvalidRequest("A zip comes with the types upload and folder, and with no other.")
    if content is not None and len(content) > ARCHIVE_BYTES_MAX:
        raise InvalidRequest(f"The archive is larger than {ARCHIVE_BYTES_MAX} bytes.", code="PACKAGE_REFUSED")
    with transaction.atomic():
        if Installation.objects.filter(status__in=OPEN).count() >= OPEN_MAX:
            message = f"{OPEN_MAX} installations are open. Finish or cancel some of them."
            raise ToolHubError(message, code="OVERLOADED", retry_after=60)
        one = Installation.objects.create(
            source_type=source.type,
            location=source.location,
            ref=source.ref,
            path=source.path,
            expected_digest=source.digest,
            asked_by=asdict(actor),
            person=by if isinstance(by, User) else None,
        )
        if content is not None:
            Staged.objects.create(installation=one, content=content)
        data = {"type": source.type, "location": source.location, "ref": source.ref}
        record(Entry("installation.started", actor, "installation", str(one.pk), data))
        if queued:
            ring_after_commit()
    return one


def folder_contents_zip(contents: Contents) -> bytes:
    """A folder's files as what an upload brings."""
    return zip_write({path_check(path): content for path, content in contents.items()})


def installation_approve(
    *,
    by: By,
    installation: Installation,
    digest: str,
    activate: bool = True,
    reviewed: bool = False,
    names: Mapping[str, str] | None = None,
) -> Installation:
    """Lets a reviewed installation go on. `digest` is the one that the reviewer saw.

    `reviewed` says that the code was read and may run at the sandbox level `process`; `names` gives tools
    other names in the hub. Raises Denied, InvalidRequest, ToolHubError WRONG_STEP.
    """
    actor = acting(by, INSTALL)
    if reviewed and isinstance(by, PersonaPrincipal):
        raise Denied(
            "An agent cannot say that code was read and may be trusted.",
            suggestions=["Approve it without `reviewed`, or let a person approve it."],
        )
    if activate:
        acting(by, "registry.change_release")
    _same_comparison(installation)
    choices = {
        "activate": activate,
        "reviewed": reviewed,
        "names": _names_checked(installation, names or {}),
        "by": asdict(actor),
    }
    with transaction.atomic():
        _move(
            installation,
            [Status.AWAITING_REVIEW],
            Q(digest=digest),
            status=Status.QUEUED,
            step="prepare",
            attempt=0,
            choices=choices,
            steps=_review_done(installation),
        )
        data = {
            "package": installation.package,
            "version": installation.version,
            "digest": digest,
            "activate": activate,
            "reviewed": reviewed,
        }
        record(Entry("installation.approved", actor, "installation", str(installation.pk), data))
        ring_after_commit()
    return installation_get(str(installation.pk))


def installation_cancel(*, by: By, installation: Installation) -> Installation:
    """Stops an installation: at once where nobody works on it, else within seconds.

    Raises Denied, ToolHubError ALREADY_FINISHED.
    """
    actor = acting(by, INSTALL)
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
            row.save(update_fields=["status", "finished_at"])
            staged_remove(row)
        data = {"package": row.package, "version": row.version}
        record(Entry("installation.cancel_asked", actor, "installation", str(row.pk), data))
    return row


def installation_retry(*, by: By, installation: Installation) -> Installation:
    """Takes a failed installation up again at the step that failed; from the first where that is gone.

    Raises Denied, ToolHubError WRONG_STEP when there is nothing left to go on with.
    """
    actor = acting(by, INSTALL)
    with transaction.atomic():
        # The row's lock holds off the steward, who takes away what old ones fetched.
        row = Installation.objects.select_for_update().get(pk=installation.pk)
        again: dict[str, Any] = {}
        if not Staged.objects.filter(pk=row.pk).exists():
            if row.source_type not in {SourceType.GIT, SourceType.URL}:
                raise ToolHubError("What was fetched is gone. Start anew.", code="WRONG_STEP")
            # What comes now may be something else: it is reviewed again.
            again = {"step": STEPS[0], "steps": [], "choices": {}, "report": {}, "digest": "", "lock": ""}
        _move(
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
        record(Entry("installation.retried", actor, "installation", str(installation.pk), {}))
        ring_after_commit()
    return installation_get(str(installation.pk))


def installation_get(pk: str) -> Installation:
    """Raises NotFound."""
    found = Installation.objects.select_related("release__package", "person").filter(pk=pk).first()
    if found is None:
        raise NotFound("There is no such installation.")
    return found


def _move(one: Installation, sources: Sequence[Status], only: Q, **columns: Any) -> None:
    """Changes the row if it is where it is thought to be. Raises ToolHubError WRONG_STEP."""
    if not Installation.objects.filter(only, pk=one.pk, status__in=sources).update(**columns):
        now = Installation.objects.filter(pk=one.pk).values_list("status", flat=True).first()
        raise ToolHubError(
            f"The installation is {now or 'gone'}, or what it brings is not what you saw.",
            code="WRONG_STEP",
            data={"status": now},
        )


def _same_comparison(one: Installation) -> None:
    """Sends an installation back to its inspection when another release has come in use since.

    Raises ToolHubError WRONG_STEP then: what the reviewer saw is not what would change.
    """
    package = Package.objects.filter(name=one.package).select_related("active").first()
    used = package.active.version if package and package.active else None
    if used == one.report.get("compared_with"):
        return
    with transaction.atomic():
        _move(one, [Status.AWAITING_REVIEW], Q(), status=Status.QUEUED, step="inspect", attempt=0)
        ring_after_commit()
    raise ToolHubError(
        f"{used or 'No release'} is in use meanwhile. The comparison is made anew; look at it again.",
        code="WRONG_STEP",
    )


def _review_done(one: Installation) -> list[dict[str, Any]]:
    now = timezone.now().isoformat(timespec="milliseconds")
    return [
        {**step, "status": "done", "finished_at": now} if step["name"] == "review" else step
        for step in one.steps
    ]


def _names_checked(one: Installation, names: Mapping[str, str]) -> dict[str, str]:
    """New names for tools: known tools, free and well-formed names, and no clash left."""
    tools = {tool["name"]: tool for tool in one.report.get("tools", [])}
    errors = []
    chosen = {name: names.get(name) or name for name in tools}
    for name, wanted in names.items():
        if name not in tools or not TOOL_NAME.fullmatch(wanted) or wanted in RESERVED:
            errors.append({"pointer": f"/names/{name[:64]}", "message": "This cannot be the name of a tool."})
    taken = set(
        Tool.objects.filter(name__in=chosen.values())
        .exclude(package__name=one.package)
        .values_list("name", flat=True)
    )
    for name, wanted in chosen.items():
        if wanted in taken:
            message = f"{wanted} belongs to another package. Give the tool another name."
            errors.append({"pointer": f"/names/{name}", "message": message})
    if len(set(chosen.values())) < len(chosen):
        errors.append({"pointer": "/names", "message": "Two tools would have one name."})
    if errors:
        raise InvalidRequest(errors[0]["message"], errors=errors)
    return {name: wanted for name, wanted in chosen.items() if wanted != name}


def system_actor(name: str) -> Actor:
    """An operator at the machine, who acts as the hub."""
    return Actor("system", "", name)
