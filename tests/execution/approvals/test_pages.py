"""The queue of approvals, and the page of one."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from execution.models import Approval
from registry.models import Package
from security.models import Persona, Switch, User
from tests.execution.approvals.conftest import now_of
from tests.execution.fixtures import Declare

pytestmark = pytest.mark.django_db
Ask = Callable[..., Approval]


@pytest.fixture
def eyes(admin: User) -> Client:
    client = Client()
    client.force_login(admin)
    return client


def test_the_queue_shows_the_exact_call_and_both_answers(asked: Ask, eyes_of_approver: Client) -> None:
    approval = asked({"path": "/srv/<b>x"})
    body = eyes_of_approver.get("/approvals/").content.decode()
    assert "researcher calls fx_echo" in body
    assert "/srv/&lt;b&gt;x" in body
    assert f"/approvals/{approval.pk}/approve/" in body
    assert f"/approvals/{approval.pk}/deny/" in body
    assert "admin" in body


def test_a_call_is_approved_by_a_form(asked: Ask, eyes_of_approver: Client) -> None:
    approval = asked()
    answer = eyes_of_approver.post(f"/approvals/{approval.pk}/approve/", {"hours": "0", "reason": ""})
    assert answer["Location"] == "/approvals/"
    assert now_of(approval) == ("pending", "approved")
    body = eyes_of_approver.get("/approvals/").content.decode()
    assert "Nothing waits" in body
    assert "Decided lately" in body


def test_a_denial_wants_a_reason(asked: Ask, eyes_of_approver: Client) -> None:
    approval = asked()
    here = f"/approvals/{approval.pk}/deny/"
    refused = eyes_of_approver.post(here, {"reason": ""})
    assert refused.status_code == 422
    assert "required" in refused.content.decode()
    assert eyes_of_approver.post(here, {"reason": "too much"})["Location"] == "/approvals/"
    assert now_of(approval) == ("cancelled", "denied")
    assert "too much" in eyes_of_approver.get(f"/approvals/{approval.pk}/").content.decode()


def test_later_calls_want_a_right_to_grant(asked: Ask, eyes_of_approver: Client) -> None:
    approval = asked()
    here = f"/approvals/{approval.pk}/approve/"
    refused = eyes_of_approver.post(here, {"hours": "8", "reason": "all day"})
    assert refused.status_code == 422
    assert "security.add_grant" in refused.content.decode()
    assert now_of(approval) == ("awaiting_approval", "")


def test_who_is_responsible_is_told_who_can(asked: Ask, approver: User, eyes: Client) -> None:
    approval = asked()
    body = eyes.get("/approvals/").content.decode()
    assert "You are responsible for the caller. bo can decide." in body
    assert f"/approvals/{approval.pk}/approve/" not in body
    assert eyes.post(f"/approvals/{approval.pk}/approve/", {"hours": "0"}).status_code == 422


def test_who_is_alone_is_told_and_can_switch_the_rule(asked: Ask, eyes: Client) -> None:
    approval = asked()
    assert "Invite a second person" in eyes.get("/approvals/").content.decode()
    assert "Switch the rule of four eyes off?" in eyes.get("/approvals/four-eyes/").content.decode()
    eyes.post("/approvals/four-eyes/", {"on": "no"})
    assert not Switch.objects.get().on
    assert eyes.post(f"/approvals/{approval.pk}/approve/", {"hours": "0"}).status_code == 302
    assert now_of(approval) == ("pending", "approved")


def test_for_others_there_is_nothing(asked: Ask, viewer: User) -> None:
    approval = asked()
    client = Client()
    client.force_login(viewer)
    here = f"/approvals/{approval.pk}/"
    for page in ("/approvals/", here, "/approvals/four-eyes/"):
        assert client.get(page).status_code == 404
    for act in ("approve", "deny", "delegate"):
        assert client.post(f"{here}{act}/", {"reason": "x", "hours": "0", "to": "viewer"}).status_code == 404
    assert now_of(approval) == ("awaiting_approval", "")


def test_handed_on_the_other_finds_it_in_a_queue_of_their_own(
    asked: Ask, eyes_of_approver: Client, viewer: User
) -> None:
    one, other = asked(1), asked(2)
    assert eyes_of_approver.post(f"/approvals/{one.pk}/delegate/", {"to": "viewer"}).status_code == 302
    client = Client()
    client.force_login(viewer)
    body = client.get("/approvals/").content.decode()
    assert str(one.pk) in body
    assert str(other.pk) not in body
    assert client.post(f"/approvals/{one.pk}/approve/", {"hours": "0"})["Location"] == "/approvals/"


def test_the_run_says_what_it_waits_for(asked: Ask, eyes: Client, eyes_of_approver: Client) -> None:
    approval = asked()
    here = f"/runs/{approval.run_id}/"
    assert "A person has to approve it" in eyes.get(here).content.decode()
    eyes_of_approver.post(f"/approvals/{approval.pk}/deny/", {"reason": "not today"})
    body = eyes.get(here).content.decode()
    assert "APPROVAL_DENIED" in body
    assert "Denied</a> by bo" in body


def test_a_call_is_approved_for_its_session_on_its_page_and_the_persona_shows_it(
    fx: Package, declare: Declare, call: Any, people: Any, persona: Persona
) -> None:
    declare("fx_echo", requiresApproval=True)
    boss = people(
        "boss",
        "execution.approve_run",
        "security.add_grant",
        "security.delete_grant",
        "security.view_persona",
        "registry.view_tool",
    )
    client = Client()
    client.force_login(boss)
    call("fx_echo", body={"arguments": {"value": 1}, "context": {"session_id": "night <b>\u202e"}})
    approval = Approval.objects.get()
    here = f"/approvals/{approval.pk}/"
    assert "in the session night &lt;b&gt;\\u202e" in client.get(here).content.decode()
    assert "in the session night &lt;b&gt;" in client.get("/approvals/").content.decode()
    assert client.post(f"{here}approve/", {"hours": "session", "reason": ""}).status_code == 422
    assert client.post(f"{here}approve/", {"hours": "session", "reason": "tonight"}).status_code == 302
    page = client.get(f"/personas/{persona.name}/").content.decode()
    assert "the call is in the session night &lt;b&gt;\\u202e" in page
    call("fx_echo", {"value": 2})
    other = Approval.objects.get(decision="")
    page = client.get(f"/approvals/{other.pk}/").content.decode()
    assert "in the session" not in page
    answer = client.post(f"/approvals/{other.pk}/approve/", {"hours": "session", "reason": "tonight"})
    assert answer.status_code == 422
