"""Telling those who may decide: a signed message to an address, and mail. Never with the call's arguments."""

from typing import Any

import orjson
from django.conf import settings
from django.urls import reverse

from core.outbox.kinds import Mail, Message, NotNow, Try, Undeliverable
from core.outbox.models import Delivery
from core.outbox.services import MAIL, delivery_add
from core.outbox.signing import secret_key
from execution.engine.events import iso
from execution.features.approvals.eyes import APPROVE, responsible_id
from execution.models import Approval
from security.sharing.people import people_with
from security.two_person_rule import four_eyes_hold

WEBHOOK_KIND, MAIL_KIND = "approval.asked", "approval.mail"
PEOPLE_MAX = 50


def approval_notify(approval: Approval) -> None:
    """Owes the messages, in the transaction that asks; sent afterwards, and again until they arrive."""
    owner = f"approvals:{approval.run.persona_id}"
    if settings.APPROVAL_WEBHOOK:
        delivery_add(kind=WEBHOOK_KIND, subject=approval.pk, owner=owner, url=settings.APPROVAL_WEBHOOK)
    if settings.MAIL_FROM:
        delivery_add(kind=MAIL_KIND, subject=approval.pk, owner=owner, url=MAIL)


def _waiting(delivery: Delivery) -> Approval:
    rows = Approval.objects.select_related("run__tool_version", "run__persona", "run__token", "delegate")
    approval = rows.filter(pk=delivery.subject).first()
    if approval is None or approval.decision:
        raise Undeliverable("the call does not wait any more")
    return approval


def _address(approval: Approval) -> str:
    return f"{settings.PUBLIC_URL.rstrip('/')}{reverse('approval', args=[approval.pk])}"


class ApprovalWebhook:
    """The request as JSON, signed under TOOLHUB_APPROVAL_WEBHOOK_SECRET."""

    name = WEBHOOK_KIND

    def message(self, delivery: Delivery) -> Message:
        """Who wants to call what, why that is asked, until when, and where to decide."""
        approval = _waiting(delivery)
        run = approval.run
        body: dict[str, Any] = {
            "type": WEBHOOK_KIND,
            "approval": str(approval.pk),
            "run": str(run.pk),
            "persona": run.persona.name,
            "tool": run.tool,
            "version": run.tool_version.version,
            "why": approval.why,
            "asked_at": iso(approval.asked_at),
            "expires_at": iso(approval.expires_at),
            "url": _address(approval),
        }
        if not settings.APPROVAL_WEBHOOK_SECRET:
            raise NotNow("TOOLHUB_APPROVAL_WEBHOOK_SECRET is not set")
        return Message(orjson.dumps(body), [secret_key(settings.APPROVAL_WEBHOOK_SECRET)])

    def told(self, delivery: Delivery, news: Try) -> None:
        """How it went stands in the delivery's row."""


class ApprovalMail:
    """The same as mail to each person who may decide."""

    name = MAIL_KIND

    def mail(self, delivery: Delivery) -> Mail:
        """To all who may decide by the two-person rule, too, and have an address."""
        approval = _waiting(delivery)
        run = approval.run
        text = (
            f"{run.persona.name} wants to call {run.tool} {run.tool_version.version}.\n"
            f"{approval.why}\n\n"
            f"Approve or deny it until {approval.expires_at:%Y-%m-%d %H:%M} UTC:\n{_address(approval)}\n"
        )
        people = approvers(approval)
        if not people:
            raise Undeliverable("nobody who may approve calls has an address")
        return Mail(f"ToolHub: {run.tool} waits for your approval", text, people)

    def told(self, delivery: Delivery, news: Try) -> None:
        """How it went stands in the delivery's row."""


def approvers(approval: Approval) -> list[str]:
    """The addresses of those who may decide."""
    run = approval.run
    kept = responsible_id(run) if four_eyes_hold() else None
    able = people_with(APPROVE, run.persona, run.tool_version.tool).exclude(pk=kept or 0)
    found = able.exclude(email="").order_by("username").values_list("email", flat=True)[:PEOPLE_MAX]
    delegate = approval.delegate if approval.delegate_id != kept else None
    mine = delegate.email if delegate else ""
    return list(dict.fromkeys([*([mine] if mine else []), *found]))
