"""Those who may decide hear of a call that waits: by a signed message, and by mail over real SMTP."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from core.outbox.models import Delivery
from core.outbox.signing import secret_key, secret_text, signed_headers
from execution.features.approvals.decide import approval_delegate, approval_deny
from execution.models import Approval
from security.models import User
from tests.mail import Post, deliver, post
from tests.receiver import Receiver, receiver

__all__ = ["post", "receiver"]
pytestmark = pytest.mark.django_db(transaction=True)
Ask = Callable[..., Approval]


def test_an_address_is_told_and_the_message_is_signed(asked: Ask, receiver: Receiver, settings: Any) -> None:
    settings.APPROVAL_WEBHOOK = f"http://127.0.0.1:{receiver.port}/approvals"
    settings.APPROVAL_WEBHOOK_SECRET = secret_text()
    approval = asked("top secret argument")
    assert deliver() == 1
    [got] = receiver.got
    body = orjson.loads(got.body)
    assert (body["type"], body["approval"], body["tool"]) == ("approval.asked", str(approval.pk), "fx_echo")
    assert body["url"].endswith(f"/approvals/{approval.pk}/")
    assert b"top secret" not in got.body
    at = int(got.headers["webhook-timestamp"])
    keys = [secret_key(settings.APPROVAL_WEBHOOK_SECRET)]
    expected = signed_headers(got.headers["webhook-id"], at, got.body, keys)
    assert got.headers["webhook-signature"] == expected["webhook-signature"]


def test_mail_goes_to_those_who_may_decide_and_to_nobody_else(
    asked: Ask, approver: User, viewer: User, admin: User, post: Post
) -> None:
    User.objects.filter(pk=admin.pk).update(email="admin@example.org")
    User.objects.filter(pk=viewer.pk).update(email="viewer@example.org")
    approval = asked("top secret argument")
    assert deliver() == 1
    [(to, mail)] = post.got
    assert to == ["bo@example.org"]
    assert mail["Subject"] == "ToolHub: fx_echo waits for your approval"
    assert mail["From"] == "ToolHub <hub@example.org>"
    text = str(mail.get_payload())
    assert f"/approvals/{approval.pk}/" in text
    assert "top secret" not in text
    assert mail["To"] is None or "bo@" not in mail["To"]


def test_who_is_handed_a_decision_is_among_them(asked: Ask, approver: User, people: Any, post: Post) -> None:
    people("cy")
    approval_delegate(by=approver, approval_id=asked().pk, to="cy")
    deliver()
    assert post.got[0][0] == ["cy@example.org", "bo@example.org"]


def test_what_is_decided_already_is_not_sent(asked: Ask, approver: User, post: Post) -> None:
    approval = asked()
    approval_deny(by=approver, approval_id=approval.pk, reason="no")
    assert deliver() == 1
    assert post.got == []
    assert Delivery.objects.get().state == "failed"


def test_a_server_that_is_away_is_tried_again(asked: Ask, approver: User, post: Post, settings: Any) -> None:
    settings.EMAIL_PORT = 1
    asked()
    assert deliver() == 1
    row = Delivery.objects.get()
    assert (row.state, row.attempts) == ("queued", 1)
    assert row.error


def test_without_address_and_sender_nothing_is_owed(asked: Ask, approver: User) -> None:
    asked()
    assert not Delivery.objects.exists()
