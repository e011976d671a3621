"""The review's write door: what was reviewed goes on to be published."""

from collections.abc import Mapping
from dataclasses import asdict

from django.db import transaction
from django.db.models import Q

from audit.ledger import Entry, record
from core.errors import Denied, InvalidRequest, ToolHubError
from core.identity import twin_of
from registry.contracts import TOOL_NAME
from registry.event_kinds import INSTALLATION_APPROVED
from registry.installations.bells import ring_after_commit
from registry.installations.four_eyes import INSTALL, eyes_check
from registry.installations.models import Installation, Status
from registry.installations.services import installation_get, installation_move
from registry.installations.steps import step_mark
from registry.models import Package, Tool
from registry.releases.activation import activation_objection
from security.acting import By, acting
from security.principals import PersonaPrincipal
from toolhub_sdk.checks.names import RESERVED


def installation_approve(
    *,
    by: By,
    installation: Installation,
    digest: str,
    activate: bool | None = None,
    reviewed: bool = False,
    names: Mapping[str, str] | None = None,
) -> Installation:
    """Lets a reviewed installation go on. `digest` is the one that the reviewer saw.

    `activate` puts the release in use. Unless it is given, only a newer release is, and no pre-release.
    `reviewed` says that the code was read and may run at the sandbox level `process`; `names` gives tools
    other names in the hub. Raises Denied, InvalidRequest, ToolHubError WRONG_STEP.
    """
    known = list(Package.objects.filter(name=installation.package))
    actor = acting(by, INSTALL, on=known)
    if reviewed:
        _reads_code(by)
    if activate is None:
        activate = not objection_of(installation)
    if activate:
        acting(by, "registry.change_release", on=known)
    eyes = eyes_check(by, installation)
    _same_comparison(installation)
    choices = {
        "activate": activate,
        "reviewed": reviewed,
        "names": _names_checked(installation, names or {}),
        "by": asdict(actor),
    }
    with transaction.atomic():
        installation_move(
            installation,
            [Status.AWAITING_REVIEW],
            Q(digest=digest),
            status=Status.QUEUED,
            step="prepare",
            attempt=0,
            choices=choices,
            steps=step_mark(installation.steps, "review", "done"),
        )
        data = {
            "package": installation.package,
            "version": installation.version,
            "digest": digest,
            "activate": activate,
            "reviewed": reviewed,
            "four_eyes": eyes.rule,
        }
        record(Entry(INSTALLATION_APPROVED, actor, "installation", str(installation.pk), data))
        ring_after_commit()
    return installation_get(str(installation.pk))


def objection_of(one: Installation) -> str:
    """Why the release is not put in use unless the reviewer chooses it; empty where it is."""
    return activation_objection(one.version, one.report.get("compared_with")) if one.version else ""


def _reads_code(by: By) -> None:
    if isinstance(by, PersonaPrincipal):
        raise Denied(
            "An agent cannot say that code was read and may be trusted.",
            suggestions=["Approve it without `reviewed`, or let a person approve it."],
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
        installation_move(one, [Status.AWAITING_REVIEW], Q(), status=Status.QUEUED, step="inspect", attempt=0)
        ring_after_commit()
    raise ToolHubError(
        f"{used or 'No release'} is in use meanwhile. The comparison is made anew; look at it again.",
        code="WRONG_STEP",
    )


def _names_checked(one: Installation, names: Mapping[str, str]) -> dict[str, str]:
    """Names in the hub that are not the tools' own: those chosen now, else those of releases before.

    Known tools, free and well-formed names, and no clash left. Raises InvalidRequest.
    """
    tools = {tool["name"]: tool for tool in one.report.get("tools", [])}
    errors = []
    chosen = {name: names.get(name) or tool.get("called", name) for name, tool in tools.items()}
    for name, wanted in names.items():
        if name not in tools or not TOOL_NAME.fullmatch(wanted) or wanted in RESERVED:
            errors.append({"pointer": f"/names/{name[:64]}", "message": "This cannot be the name of a tool."})
    known = dict(Tool.objects.values_list("name", "package__name"))
    for name, wanted in chosen.items():
        if known.get(wanted, one.package) != one.package:
            message = f"{wanted} belongs to another package. Give the tool another name."
            errors.append({"pointer": f"/names/{name}", "message": message})
        elif wanted not in known and twin_of(wanted, known):
            message = f"A tool has the name {wanted} in other capitals. Give the tool another name."
            errors.append({"pointer": f"/names/{name}", "message": message})
    if len({wanted.lower() for wanted in chosen.values()}) < len(chosen):
        errors.append({"pointer": "/names", "message": "Two tools would have one name."})
    if errors:
        raise InvalidRequest(errors[0]["message"], errors=errors)
    return {name: wanted for name, wanted in chosen.items() if wanted != name}
