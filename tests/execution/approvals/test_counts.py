"""Every count of what waits for a person counts what this person may decide, and nothing else."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from core.errors import ToolHubError
from execution.features.approvals.decide import approval_delegate, approval_grant
from execution.features.approvals.notify import approvers
from execution.features.approvals.selectors import approvals_decidable
from execution.models import Approval
from monitoring.attention import notices
from registry.installations.models import Installation
from security.four_eyes import four_eyes_switch
from security.models import User

pytestmark = pytest.mark.django_db
Ask = Callable[..., Approval]
WAITS = "1 call waits for your approval"


def words(person: User) -> list[str]:
    return [notice.words for notice in notices(User.objects.get(pk=person.pk))]


def test_a_call_is_counted_for_those_alone_who_may_approve_it(
    asked: Ask, admin: User, approver: User, viewer: User, people: Callable[..., User]
) -> None:
    approval = asked()  # the admin is responsible for the caller
    cy = people("cy")
    approval_delegate(by=approver, approval_id=approval.pk, to="cy")
    approval = Approval.objects.get()
    for person, mine in ((admin, False), (approver, True), (viewer, False), (cy, True)):
        assert (WAITS in words(person)) is mine, person
        assert (approval in approvals_decidable(person)) is mine
        assert (person.email in approvers(approval)) is (mine and bool(person.email))
        if not mine:
            with pytest.raises(ToolHubError):
                approval_grant(by=person, approval_id=approval.pk)
    approval_grant(by=cy, approval_id=approval.pk)
    assert not any(WAITS in words(person) for person in (approver, cy))


def test_with_the_two_person_rule_off_it_is_the_responsible_persons_too(asked: Ask, admin: User) -> None:
    User.objects.filter(pk=admin.pk).update(email="admin@example.org")
    approval = asked()
    assert (WAITS in words(admin), approvers(approval)) == (False, [])
    four_eyes_switch(by=admin, on=False)
    assert (WAITS in words(admin), approvers(approval)) == (True, ["admin@example.org"])


def test_a_review_is_not_counted_for_who_brought_the_package_in(
    admin: User,
) -> None:
    Installation.objects.create(
        source_type="upload", location="a.zip", status="awaiting_review", person=admin, asked_by={"name": "a"}
    )
    one = "1 installation waits for a review"
    assert one in words(admin)  # nobody else may publish it
    other = User.objects.create_superuser("other")
    assert one not in words(admin)
    assert one in words(other)


def test_the_queue_shows_a_call_that_the_person_may_not_decide_without_its_answers(
    asked: Ask, admin: User, approver: User, client: Client
) -> None:
    asked()
    client.force_login(admin)
    page: Any = client.get("/approvals/").content.decode()
    assert "You are responsible for the caller" in page
    assert "data-approve" not in page
