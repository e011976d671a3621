"""Reads requests for approval: those that wait, those that were decided, and what one of them is about."""

from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from core.errors import NotFound
from execution.engine.events import iso
from execution.features.approvals.eyes import APPROVE, eyes_of, may_decide
from execution.models import Approval, Run
from security.models import User
from security.sharing.reach import about, may
from security.two_person_rule import four_eyes_hold


def approvals_waiting(person: User) -> QuerySet[Approval]:
    """Those that wait and are the person's to decide, four eyes aside; the oldest first."""
    rows = _rows().filter(decision="").order_by("pk")
    return _reached(person, rows, Q(delegate=person))


def approvals_decidable(person: User) -> QuerySet[Approval]:
    """Those of `approvals_waiting` that the person may decide: every count of calls for their approval."""
    rows = approvals_waiting(person)
    if not four_eyes_hold():
        return rows
    # As `responsible_id` reads it.
    own = Q(run__token__responsible=person) | Q(run__token=None, run__responsible=person)
    return rows.exclude(pk__in=Approval.objects.filter(own, decision="").order_by().values("pk"))


def approvals_decided(person: User, count: int = 10) -> list[Approval]:
    """The latest that are over."""
    rows = _rows().exclude(decision="").order_by("-pk")
    return list(_reached(person, rows, Q(decided_by=person) | Q(delegate=person))[:count])


def _reached(person: User, rows: QuerySet[Approval], own: Q) -> QuerySet[Approval]:
    """Those that the person may decide by right, and their own whatever they reach."""
    reached = about(person, rows, APPROVE, tool="run__tool", persona="run__persona")
    return rows if reached is rows else rows.filter(own | Q(pk__in=reached.order_by().values("pk")))


def approval_get(approval_id: UUID, person: User) -> Approval:
    """Raises NotFound for one that is not the person's to see."""
    approval = _rows().filter(pk=approval_id).first()
    if approval is None or not (may_decide(person, approval) or _seen(person, approval)):
        raise NotFound("There is no such request for approval.")
    return approval


def _seen(person: User, approval: Approval) -> bool:
    return may(person, "execution.view_run", approval.run.persona, approval.run.tool_version.tool)


def approval_of(run: Run) -> Approval | None:
    """The request that a run waits for, or waited for."""
    return _rows().filter(run=run).first()


def approval_view(approval: Approval) -> dict[str, Any]:
    """A request as the API has it, with the exact call."""
    run = approval.run
    return {
        "id": str(approval.pk),
        "run_id": str(run.pk),
        "persona": run.persona.name,
        "responsible": responsible_name(run),
        "tool": run.tool,
        "version": run.tool_version.version,
        "version_digest": run.tool_version.digest,
        "arguments": run.arguments,
        "arguments_hash": bytes(run.arguments_hash).hex(),
        "request": run.request,
        "why": approval.why,
        "asked_at": iso(approval.asked_at),
        "expires_at": iso(approval.expires_at),
        "delegate": approval.delegate.get_username() if approval.delegate else None,
        "decision": approval.decision or None,
        "decided_at": iso(approval.decided_at),
        "decided_by": approval.decided_by.get_username() if approval.decided_by else None,
        "reason": approval.reason,
    }


def approval_shown(approval: Approval, person: User, *, mine: bool) -> dict[str, Any]:
    """A request as a page shows it to a person: `eyes` says why they may not decide, where they may not.

    `mine` says that it is the person's to decide, four eyes aside.
    """
    run = approval.run
    eyes = eyes_of(person.pk, run)
    mine = mine and not approval.decision
    return {
        "approval": approval,
        "run": run,
        "responsible": responsible_name(run),
        "request": {name: value for name, value in run.request.items() if name != "context"},
        "eyes": eyes if mine else None,
        "decidable": mine and eyes.rule != "refused",
        "mine": mine,
    }


def responsible_name(run: Run) -> str:
    """Who answers for the caller."""
    person = run.token.responsible if run.token else run.responsible
    return person.get_username() if person else ""


def _rows() -> QuerySet[Approval]:
    return Approval.objects.select_related(
        "run__tool_version__tool__package",
        "run__persona",
        "run__token__responsible",
        "run__responsible",
        "delegate",
        "decided_by",
    )
