"""Deciding: one person, once, on exactly the call that was asked for."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from audit.ledger import Entry, record
from core.actors import Actor
from core.errors import Denied, InvalidRequest, NotFound, ToolHubError
from execution import event_kinds
from execution.engine.accept import run_ring
from execution.engine.events import event_add
from execution.engine.outcomes import failure
from execution.engine.requests import deadline_ms_of
from execution.engine.settle import run_settle
from execution.engine.states import transition
from execution.features.approvals.binding import binding_of
from execution.features.approvals.expiry import KINDS
from execution.features.approvals.eyes import Eyes, eyes_check, may_decide
from execution.models import Approval, Run, Status, Verdict
from execution.run_events import APPROVAL_DELEGATED, APPROVED
from execution.side_effects import SideEffect
from security.conditions import SESSION
from security.decisions import APPROVED as IN_ADVANCE
from security.models import Grant, User
from security.permissions import actor_of
from security.services import grant_create, grant_revoke

REASON_MAX = 500
HOURS_MAX = 24 * 366
# A caller names its sessions itself: what is approved for one ends soon all the same.
SESSION_HOURS, SESSION_HOURS_MAX = 8, 24


@dataclass(frozen=True)
class _Asked:
    """A request that waits, with its run, both locked, and who decides."""

    approval: Approval
    run: Run
    eyes: Eyes


def approval_grant(
    *,
    by: User,
    approval_id: UUID,
    reason: str = "",
    hours: int = 0,
    session: bool = False,
    actor: Actor | None = None,
) -> Run:
    """Approves the call: it is due now. With `hours` later calls of the tool by the persona are, too.

    With `session` only those in the session of this call, for a day at most.

    `actor` is the agent through which the person decides. Raises NotFound, Denied, InvalidRequest, and
    ToolHubError (409) when somebody was first, or it expired.
    """
    if session and not hours:
        hours = SESSION_HOURS
    reason = _reason_read(reason, needed=bool(hours))
    if session and hours > SESSION_HOURS_MAX:
        message = f"From 1 to {SESSION_HOURS_MAX} hours for a session."
        raise InvalidRequest(message, errors=[{"pointer": "/hours", "message": message}])
    if not 0 <= hours <= HOURS_MAX:
        message = f"From 1 to {HOURS_MAX} hours."
        raise InvalidRequest(message, errors=[{"pointer": "/hours", "message": message}])
    with transaction.atomic():
        asked = _asked(by, approval_id)
        run, who = asked.run, actor or actor_of(by)
        if session and not run.session:
            message = "The call names no session. Approve it alone, or for some hours."
            raise InvalidRequest(message, errors=[{"pointer": "/session", "message": message}])
        named = run.session if session else ""
        if hours:
            _in_advance(by, run, reason, hours, named)
        moved = transition(
            Run.objects.filter(pk=run.pk),
            source=Status.AWAITING_APPROVAL,
            target=Status.PENDING,
            who="approver",
            due_at=Now(),
            # The time for beginning it counts from now.
            deadline_at=Now() + timedelta(milliseconds=deadline_ms_of(run.request)),
        )
        if not moved:
            raise _over(run)
        event_add(run.pk, APPROVED, {"by": by.get_username(), "reason": reason})
        _decided(asked, by, who, Verdict.APPROVED, reason, _more(hours, named))
        transaction.on_commit(lambda: run_ring(run.queue))
    return run


def approval_deny(*, by: User, approval_id: UUID, reason: str, actor: Actor | None = None) -> Run:
    """Denies the call: it ends as cancelled, and its caller reads why. Raises as `approval_grant`."""
    reason = _reason_read(reason, needed=True)
    with transaction.atomic():
        asked = _asked(by, approval_id)
        run, who = asked.run, actor or actor_of(by)
        message = f"{by.get_username()} denied the call: {reason}"
        outcome = failure(
            "APPROVAL_DENIED",
            message,
            at=timezone.now(),
            status=Status.CANCELLED,
            side_effect=SideEffect.NONE,
        )
        _decided(asked, by, who, Verdict.DENIED, reason, {})
        source = Status.AWAITING_APPROVAL
        if not run_settle(run, outcome, sources=[source], who="approver", actor=who):
            raise _over(run)
    return run


def approval_delegate(*, by: User, approval_id: UUID, to: str, actor: Actor | None = None) -> Approval:
    """Lets another person decide this one request, who need not hold the permission.

    Raises NotFound, Denied, InvalidRequest, ToolHubError (409).
    """
    named = User.objects.filter(username=to.strip(), is_active=True)
    person = named.first() if "\0" not in to else None
    if person is None:
        message = "There is nobody of this name who can sign in."
        raise InvalidRequest(message, errors=[{"pointer": "/to", "message": message}])
    with transaction.atomic():
        # Who is responsible for the caller may hand it on, and not to themselves.
        asked = _asked(by, approval_id, eyes=False)
        eyes_check(person.pk, asked.run)
        asked.approval.delegate = person
        asked.approval.save(update_fields=["delegate"])
        told = {"by": by.get_username(), "to": person.get_username()}
        event_add(asked.run.pk, APPROVAL_DELEGATED, told)
        data = {"approval": str(asked.approval.pk), "to": person.get_username()}
        who, kind = actor or actor_of(by), event_kinds.APPROVAL_DELEGATED
        record(Entry(kind, who, "tool", asked.run.tool, data, asked.run.pk))
    return asked.approval


def _asked(by: User, approval_id: UUID, *, eyes: bool = True) -> _Asked:
    """The request that waits, locked after its run, as everywhere."""
    approval = Approval.objects.filter(pk=approval_id).first()
    if approval is None or not may_decide(by, approval):
        raise NotFound("There is no such request for approval.")
    rows = Run.objects.select_for_update(of=("self",)).select_related("tool_version", "persona", "token")
    run = rows.get(pk=approval.run_id)
    approval = Approval.objects.select_for_update().get(pk=approval_id)
    if approval.decision or run.status != Status.AWAITING_APPROVAL:
        raise _over(run, approval)
    if not Approval.objects.filter(pk=approval_id, expires_at__gt=Now()).exists():
        raise ToolHubError("The request has expired.", code="CONFLICT")
    if bytes(approval.binding) != binding_of(run):
        raise Denied("The call is not the one that was asked for. Nothing was decided.")
    return _Asked(approval, run, eyes_check(by.pk, run) if eyes else Eyes("other"))


def _decided(
    asked: _Asked, by: User, who: Actor, verdict: Verdict, reason: str, more: dict[str, object]
) -> None:
    Approval.objects.filter(pk=asked.approval.pk).update(
        decision=verdict, decided_at=Now(), decided_by=by, reason=reason
    )
    data = {
        "approval": str(asked.approval.pk),
        "binding": bytes(asked.approval.binding).hex(),
        "four_eyes": asked.eyes.rule,
        "reason": reason,
        "by": by.get_username(),
        **more,
    }
    record(Entry(KINDS[verdict], who, "tool", asked.run.tool, data, asked.run.pk))


def _more(hours: int, session: str) -> dict[str, object]:
    return ({"hours": hours} if hours else {}) | ({"session": session} if session else {})


def _in_advance(by: User, run: Run, reason: str, hours: int, session: str) -> None:
    """A grant that approves later calls until a time, in place of the one before it; perhaps in a session."""
    capability = f"{IN_ADVANCE}:{run.tool}"
    until = timezone.now() + timedelta(hours=hours)
    conditions = [{"kind": SESSION, "values": [session]}] if session else []
    for before in Grant.objects.filter(persona=run.persona, capability=capability, session=session):
        if before.conditions == conditions:
            grant_revoke(by=by, grant=before)
    grant_create(
        by=by,
        persona=run.persona,
        capability=capability,
        reason=reason[:200],
        expires_at=until,
        conditions=conditions,
    )


def _reason_read(text: str, *, needed: bool) -> str:
    text = " ".join(text.split())
    if len(text) > REASON_MAX or "\0" in text or (needed and not text):
        message = f"Say why, in at most {REASON_MAX} characters."
        raise InvalidRequest(message, errors=[{"pointer": "/reason", "message": message}])
    return text


def _over(run: Run, approval: Approval | None = None) -> ToolHubError:
    said = approval.decision if approval and approval.decision else run.status.replace("_", " ")
    return ToolHubError(f"The call is {said} already.", code="CONFLICT")
