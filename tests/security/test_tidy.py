"""What was mailed and posted long ago is removed, and nothing else."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from core.clock import uuid7
from core.outbox.models import Delivery, State
from execution.features.callbacks.state import RUN_OUTCOME
from execution.steward import duties
from security.accounts.invitations import invitation_mail, invitation_news
from security.accounts.notices import notice_owe
from security.models import Invitation, Notice, User

pytestmark = pytest.mark.django_db


def perform(*names: str) -> list[int]:
    return [duty.act() for duty in duties() if duty.name in names]


@pytest.mark.parametrize(("age_days", "stays"), [(29, True), (31, False)])
def test_invitations_and_notices_go_after_their_days_and_the_person_stays(
    admin: User, viewer: User, settings: Any, age_days: int, stays: bool
) -> None:
    settings.MAIL_FROM = "hub@example.org"
    User.objects.filter(pk=viewer.pk).update(email="viewer@example.org")
    viewer.refresh_from_db()
    invitation_mail(by=admin, person=viewer)
    with transaction.atomic():
        notice_owe(viewer, "something changed.")
    assert invitation_news(viewer)
    made = timezone.now() - timedelta(days=age_days)
    for model in (Invitation, Notice):
        model.objects.update(created_at=made)
    assert perform("invitations") == [0 if stays else 2]
    assert [model.objects.exists() for model in (Invitation, Notice, Delivery)] == [stays] * 3
    assert User.objects.filter(pk=viewer.pk).exists()


def test_what_arrived_or_failed_goes_what_is_owed_and_what_runs_can_send_again_stays(db: None) -> None:
    old, new = (timezone.now() - timedelta(days=days) for days in (31, 29))
    rows: dict[str, dict[str, Any]] = {
        "arrived": {"state": State.DELIVERED, "ended_at": old},
        "failed": {"state": State.FAILED, "ended_at": old},
        "lately": {"state": State.DELIVERED, "ended_at": new},
        "owed": {"state": State.QUEUED, "created_at": old},
    }
    for name, row in rows.items():
        Delivery.objects.create(kind="approval.mail", subject=uuid7(), owner=name, url="mail:", **row)
    Delivery.objects.create(kind=RUN_OUTCOME, subject=uuid7(), owner="callback", url="", **rows["arrived"])
    assert perform("messages") == [2]
    assert set(Delivery.objects.values_list("owner", flat=True)) == {"lately", "owed", "callback"}
