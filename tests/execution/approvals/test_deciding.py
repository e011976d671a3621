"""A call that wants approval waits; one person decides, once, on exactly that call."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit.models import Event
from core.errors import Denied, InvalidRequest, NotFound, ToolHubError
from execution.engine.invariants import invariants_check
from execution.engine.perform import queue_work
from execution.engine.requests import CallRequest
from execution.engine.submit import run_cancel
from execution.entry.tries.services import run_try
from execution.features.approvals.decide import approval_delegate, approval_deny, approval_grant
from execution.features.approvals.expiry import approvals_expire
from execution.features.approvals.feature import OPEN_MAX
from execution.models import Approval, Run, RunEvent, Status
from registry.models import Package, Tool
from registry.releases.overlay import tool_overlay_edit
from registry.services import assignment_create
from security.four_eyes import four_eyes_hold, four_eyes_switch
from security.models import Grant, Persona, User
from security.permissions import actor_of
from security.services import grant_create, grant_revoke, persona_create, persona_switch, token_create
from tests.execution.approvals.conftest import now_of
from tests.execution.fixtures import Declare

pytestmark = pytest.mark.django_db(transaction=True)
Ask = Callable[..., Approval]


def kinds(run_id: Any) -> list[str]:
    return list(Event.objects.filter(run_id=run_id).order_by("pk").values_list("kind", flat=True))


def test_a_call_that_wants_approval_is_202_at_once_and_does_nothing(asked: Ask, call: Any) -> None:
    approval = asked()
    body = call("fx_echo", {"value": 2}).json()
    assert (body["success"], body["metadata"]["status"]) == (None, "awaiting_approval")
    assert queue_work("default") == 0
    assert now_of(approval) == ("awaiting_approval", "")
    assert "its contract wants it" in approval.why
    assert kinds(approval.run_id) == ["run.accepted", "approval.asked"]


def test_approved_it_runs_once(asked: Ask, approver: User) -> None:
    approval = asked()
    approval_grant(by=approver, approval_id=approval.pk, reason="fine")
    assert now_of(approval) == ("pending", "approved")
    assert queue_work("default") == 1
    run = Run.objects.get()
    assert (run.status, run.result) == ("completed", "hi")
    assert kinds(run.pk) == ["run.accepted", "approval.asked", "approval.approved", "run.outcome"]
    events = list(RunEvent.objects.filter(run=run).order_by("seq").values_list("kind", flat=True))
    assert events[:3] == ["TOOL_CALL_REQUESTED", "APPROVAL_ASKED", "APPROVED"]
    assert invariants_check().faults == {}
    with pytest.raises(ToolHubError) as again:
        approval_grant(by=approver, approval_id=approval.pk)
    assert again.value.code == "CONFLICT"


def test_denied_it_ends_and_the_caller_reads_why(
    asked: Ask, approver: User, client: Client, token_text: str
) -> None:
    approval = asked()
    approval_deny(by=approver, approval_id=approval.pk, reason="not today")
    assert now_of(approval) == ("cancelled", "denied")
    headers: dict[str, Any] = {"HTTP_AUTHORIZATION": f"Bearer {token_text}"}
    error = client.get(f"/api/v1/runs/{approval.run_id}", **headers).json()["error"]
    assert (error["code"], error["message"]) == ("APPROVAL_DENIED", "bo denied the call: not today")
    assert queue_work("default") == 0
    assert invariants_check().faults == {}


def test_who_is_responsible_for_the_caller_does_not_decide(asked: Ask, admin: User, approver: User) -> None:
    approval = asked()
    for decide in (approval_grant, approval_deny):
        with pytest.raises(Denied, match="bo can decide"):
            decide(by=admin, approval_id=approval.pk, reason="mine")  # type: ignore[operator]
    assert now_of(approval) == ("awaiting_approval", "")


def test_one_alone_is_told_and_may_switch_the_rule_off_on_record(asked: Ask, admin: User) -> None:
    approval = asked()
    with pytest.raises(Denied, match="nobody else may approve calls: invite a second person"):
        approval_grant(by=admin, approval_id=approval.pk)
    four_eyes_switch(by=admin, on=False)
    assert not four_eyes_hold()
    approval_grant(by=admin, approval_id=approval.pk)
    event = Event.objects.get(kind="approval.approved")
    assert '"four_eyes":"off"' in event.canonical
    four_eyes_switch(by=admin, on=True)
    four_eyes_switch(by=admin, on=True)
    switched = Event.objects.filter(subject_id="four_eyes").order_by("pk").values_list("kind", flat=True)
    assert list(switched) == ["four_eyes.switched_off", "four_eyes.switched_on"]


def test_only_who_may_approve_sees_it(asked: Ask, viewer: User) -> None:
    with pytest.raises(NotFound):
        approval_grant(by=viewer, approval_id=asked().pk)


def test_handed_on_somebody_else_may_decide_just_this_one(
    asked: Ask, approver: User, viewer: User, admin: User
) -> None:
    one, other = asked(1), asked(2)
    approval_delegate(by=approver, approval_id=one.pk, to="viewer")
    with pytest.raises(NotFound):
        approval_grant(by=viewer, approval_id=other.pk)
    approval_grant(by=viewer, approval_id=one.pk)
    assert now_of(one) == ("pending", "approved")
    assert Event.objects.filter(kind="approval.delegated").count() == 1
    with pytest.raises(InvalidRequest):
        approval_delegate(by=approver, approval_id=other.pk, to="nobody")
    with pytest.raises(Denied):
        approval_delegate(by=approver, approval_id=other.pk, to=admin.username)


def test_a_reason_is_needed_for_a_no_and_for_later_calls(asked: Ask, approver: User) -> None:
    approval = asked()
    for act in (
        lambda: approval_deny(by=approver, approval_id=approval.pk, reason=" "),
        lambda: approval_grant(by=approver, approval_id=approval.pk, hours=1),
        lambda: approval_grant(by=approver, approval_id=approval.pk, reason="x" * 501),
        lambda: approval_grant(by=approver, approval_id=approval.pk, reason="x", hours=-1),
    ):
        with pytest.raises(InvalidRequest):
            act()
    assert now_of(approval) == ("awaiting_approval", "")


def test_nobody_in_time_cancels_it(asked: Ask, approver: User) -> None:
    approval, later = asked(1), asked(2)
    Approval.objects.filter(pk=approval.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(ToolHubError, match="expired"):
        approval_grant(by=approver, approval_id=approval.pk)
    assert approvals_expire() == 1
    assert approvals_expire() == 0
    assert now_of(approval) == ("cancelled", "expired")
    assert now_of(later) == ("awaiting_approval", "")
    assert Run.objects.get(pk=approval.run_id).error["code"] == "APPROVAL_EXPIRED"
    assert invariants_check().faults == {}


def test_cancelled_by_its_caller_it_waits_no_more(asked: Ask, admin: User, approver: User) -> None:
    approval = asked()
    assert run_cancel(by=actor_of(admin), run=approval.run)
    assert now_of(approval) == ("cancelled", "withdrawn")
    with pytest.raises(ToolHubError):
        approval_grant(by=approver, approval_id=approval.pk)
    assert approvals_expire() == 0


def test_a_call_that_was_changed_meanwhile_is_not_what_was_approved(asked: Ask, approver: User) -> None:
    approval = asked()
    Run.objects.filter(pk=approval.run_id).update(arguments={"value": "everything"})
    with pytest.raises(Denied, match="not the one that was asked for"):
        approval_grant(by=approver, approval_id=approval.pk)
    assert now_of(approval) == ("awaiting_approval", "")


def test_a_call_that_was_changed_after_the_decision_does_not_start(asked: Ask, approver: User) -> None:
    approval = asked()
    approval_grant(by=approver, approval_id=approval.pk)
    Run.objects.filter(pk=approval.run_id).update(arguments={"value": "everything"})
    queue_work("default")
    run = Run.objects.get()
    assert (run.status, run.error["code"]) == ("failed", "APPROVAL_REQUIRED")


def test_a_run_that_came_to_its_start_without_a_decision_does_not_start(asked: Ask) -> None:
    approval = asked()
    Run.objects.filter(pk=approval.run_id).update(status=Status.PENDING)
    queue_work("default")
    assert Run.objects.get().error["code"] == "APPROVAL_REQUIRED"


def test_rights_are_asked_again_before_the_start(
    asked: Ask, approver: User, admin: User, persona: Persona
) -> None:
    approval = asked()
    approval_grant(by=approver, approval_id=approval.pk)
    persona_switch(by=admin, persona=persona, on=False)
    queue_work("default")
    run = Run.objects.get()
    assert run.error["code"] == "PERMISSION_DENIED"
    checks = run.error["details"]["decision"]["checks"]
    assert (checks[-1]["name"], checks[-1]["reason"]) == ("approval", "No approval is needed.") or checks[-1][
        "name"
    ] == "approval"


def test_the_decision_shows_the_approval_last(asked: Ask, client: Client, token_text: str) -> None:
    asked()
    headers: dict[str, Any] = {"HTTP_AUTHORIZATION": f"Bearer {token_text}"}
    body = client.post(
        "/api/v1/decisions/simulate",
        {"persona": "researcher", "tool": "fx_echo", "arguments": {"value": 1}},
        content_type="application/json",
        **headers,
    ).json()
    assert (body["allowed"], body["status"]) == (True, 202)
    last = body["decision"]["checks"][-1]
    assert (last["name"], last["verdict"], last["code"]) == ("approval", "ask", "APPROVAL_REQUIRED")
    assert last["who"] == "who may approve calls"


def test_later_calls_are_approved_by_a_grant_that_ends(
    asked: Ask, call: Any, people: Any, persona: Persona
) -> None:
    boss = people("boss", "execution.approve_run", "security.add_grant", "security.delete_grant")
    approval = asked()
    approval_grant(by=boss, approval_id=approval.pk, reason="until tonight", hours=8)
    grant = Grant.objects.get(capability="approved:fx_echo")
    assert grant.expires_at is not None
    assert timedelta(hours=7) < grant.expires_at - timezone.now() <= timedelta(hours=8)
    assert call("fx_echo", {"value": 3}).json()["data"] == 3
    grant_revoke(by=boss, grant=grant)
    assert call("fx_echo", {"value": 3}).status_code == 202


def test_who_may_not_grant_approves_no_later_calls(asked: Ask, approver: User) -> None:
    approval = asked()
    with pytest.raises(Denied):
        approval_grant(by=approver, approval_id=approval.pk, reason="all of them", hours=8)
    assert now_of(approval) == ("awaiting_approval", "")


def test_who_is_responsible_approves_nothing_in_advance(asked: Ask, admin: User, persona: Persona) -> None:
    with pytest.raises(Denied, match="responsible for a token"):
        grant_create(by=admin, persona=persona, capability="approved:fx_echo", reason="mine")


@pytest.mark.parametrize("capability", ["approved:fx_echo", "approved:*"])
def test_what_one_granted_approves_none_of_the_calls_one_answers_for(
    asked: Ask, client: Client, people: Any, persona: Persona, capability: str
) -> None:
    able = ("security.add_grant", "security.add_token", "execution.approve_run")
    boss, other = (people(name, *able) for name in ("boss", "other"))
    grant_create(by=boss, persona=persona, capability=capability, reason="before there was a token")

    def status(by: User) -> int:
        text = token_create(by=by, persona=persona, name="later")[1]
        headers: dict[str, Any] = {"HTTP_AUTHORIZATION": f"Bearer {text}", "content_type": "application/json"}
        # Twice: the second time the prepared statement finds the token.
        for _ in range(2):
            answer = client.post("/api/v1/tools/fx_echo/execute", {"arguments": {"value": 1}}, **headers)
        return answer.status_code

    assert status(boss) == 202
    why = Approval.objects.latest("asked_at").why
    assert f"The grant of {capability} is by who is responsible for the caller: it does not count." in why
    assert status(other) == 200


def test_nor_of_the_calls_one_tries(asked: Ask, admin: User) -> None:
    persona = persona_create(by=admin, name="untold")
    assignment_create(by=admin, persona=persona, tool=Tool.objects.get(name="fx_echo"))
    asked()
    grant_create(by=admin, persona=persona, capability="approved:fx_echo", reason="mine")
    tried: dict[str, Any] = {
        "by": admin,
        "persona": persona,
        "tool": "fx_echo",
        "request": CallRequest({"value": 1}),
    }
    assert run_try(**tried).status == Status.AWAITING_APPROVAL
    four_eyes_switch(by=admin, on=False)
    run = run_try(**tried)
    assert run.status == Status.PENDING
    # The worker asks again.
    four_eyes_switch(by=admin, on=True)
    queue_work("default")
    run.refresh_from_db()
    assert (run.status, run.error["code"] if run.error else "") == ("failed", "APPROVAL_REQUIRED")


def test_a_wildcard_of_capabilities_approves_nothing(
    asked: Ask, call: Any, admin: User, persona: Persona
) -> None:
    grant_create(by=admin, persona=persona, capability="*", reason="trusted")
    assert call("fx_echo", {"value": 1}).status_code == 202


def test_an_admin_can_want_approval_of_any_tool(fx: Package, call: Any, admin: User) -> None:
    tool = Tool.objects.get(name="fx_echo")
    tool_overlay_edit(by=admin, tool=tool, overlay={"approval": True})
    assert call("fx_echo", {"value": 1}).status_code == 202
    assert "an admin wants it" in Approval.objects.get().why
    tool_overlay_edit(by=admin, tool=tool, overlay={})
    assert call("fx_echo", {"value": 1}).status_code == 200


def test_a_grant_can_want_approval(
    fx: Package, call: Any, admin: User, persona: Persona, approver: User
) -> None:
    grant_create(
        by=admin,
        persona=persona,
        capability="file:read:tmp",
        reason="with care",
        conditions=[{"kind": "approval"}],
    )
    assert call("fx_capable", {}).status_code == 202
    approval = Approval.objects.get()
    assert "the grant of file:read:tmp wants it" in approval.why
    approval_grant(by=approver, approval_id=approval.pk)
    queue_work("default")
    assert Run.objects.get().status == "completed"


def test_a_key_finds_the_run_that_waits(asked: Ask, call: Any) -> None:
    first = asked(1, HTTP_IDEMPOTENCY_KEY="k")
    again = call("fx_echo", {"value": 1}, HTTP_IDEMPOTENCY_KEY="k")
    assert again.json()["metadata"]["run_id"] == str(first.run_id)
    assert Approval.objects.count() == 1


def test_a_persona_cannot_fill_the_queue(asked: Ask, call: Any) -> None:
    run = asked().run
    for number in range(OPEN_MAX - 1):
        run.pk = None
        run.pk = type(run)._meta.pk.get_default()
        run.salt = bytes([number] * 16)
        Run.objects.bulk_create([run])
    answer = call("fx_echo", {"value": 1})
    assert (answer.status_code, answer["Retry-After"]) == (503, "60")


def test_a_chain_stops_where_a_person_is_wanted(
    asked: Ask, client: Client, token_text: str, declare: Declare
) -> None:
    asked()
    headers: dict[str, Any] = {"HTTP_AUTHORIZATION": f"Bearer {token_text}"}
    calls = [{"id": name, "toolName": "fx_echo", "arguments": {"value": name}} for name in ("a", "b")]
    body = {"operation": "execute_chain", "calls": calls}
    answer = client.post("/api/v1/execute", body, content_type="application/json", **headers).json()
    assert [step["status"] for step in answer["flow"]["steps"]] == [None, "skipped"]
    assert Approval.objects.count() == 2


def in_session(call: Any, session: str, value: Any = "hi") -> Any:
    """The answer to a call in a session; an empty one names none."""
    body: dict[str, Any] = {"arguments": {"value": value}}
    return call("fx_echo", body={**body, "context": {"session_id": session}} if session else body)


def test_for_the_rest_of_a_session_the_tool_is_approved_there_and_nowhere_else(
    fx: Package, declare: Declare, call: Any, people: Any, admin: User, persona: Persona
) -> None:
    declare("fx_echo", requiresApproval=True)
    boss = people("boss", "execution.approve_run", "security.add_grant", "security.delete_grant")
    first = in_session(call, "s1")
    assert first.status_code == 202
    approval = Approval.objects.get(run_id=first.json()["metadata"]["run_id"])
    for wrong in ({"reason": ""}, {"reason": "x", "hours": 25}):
        with pytest.raises(InvalidRequest):
            approval_grant(by=boss, approval_id=approval.pk, session=True, **wrong)
    approval_grant(by=boss, approval_id=approval.pk, session=True, reason="this one task")
    grant = Grant.objects.get(capability="approved:fx_echo")
    assert (grant.session, grant.conditions) == ("s1", [{"kind": "session", "values": ["s1"]}])
    assert grant.expires_at is not None
    assert timedelta(hours=7) < grant.expires_at - timezone.now() <= timedelta(hours=8)
    assert queue_work("default") == 1
    again = in_session(call, "s1")
    assert (again.status_code, again.json()["data"]) == (200, "hi")
    assert [in_session(call, other).status_code for other in ("s2", "S1", "s1 ", "")] == [202] * 4
    # Another persona's session of the same name is another.
    stranger = persona_create(by=admin, name="stranger")
    assignment_create(by=admin, persona=stranger, package=fx)
    text = token_create(by=admin, persona=stranger, name="t")[1]
    other = call(
        "fx_echo",
        body={"arguments": {"value": 1}, "context": {"session_id": "s1"}},
        HTTP_AUTHORIZATION=f"Bearer {text}",
    )
    assert other.status_code == 202
    # A second session has a grant of its own; one until a time stands beside both.
    second = Approval.objects.get(run__session="s2")
    approval_grant(by=boss, approval_id=second.pk, session=True, hours=1, reason="that one, too")
    assert sorted(Grant.objects.values_list("session", flat=True)) == ["s1", "s2"]
    grant_revoke(by=boss, grant=grant)
    assert [in_session(call, name).status_code for name in ("s1", "s2")] == [202, 200]


def test_a_session_that_is_ended_ends_what_was_approved_for_it(
    fx: Package, declare: Declare, call: Any, people: Any, client: Client, token_text: str
) -> None:
    declare("fx_echo", requiresApproval=True)
    boss = people("boss", "execution.approve_run", "security.add_grant", "security.delete_grant")
    for session in ("s1", "s2"):
        run_id = in_session(call, session).json()["metadata"]["run_id"]
        pk = Approval.objects.get(run_id=run_id).pk
        approval_grant(by=boss, approval_id=pk, session=True, reason="this one task")
    client.delete("/api/v1/sessions/s1", HTTP_AUTHORIZATION=f"Bearer {token_text}")
    assert list(Grant.objects.values_list("session", flat=True)) == ["s2"]
    assert [in_session(call, name).status_code for name in ("s1", "s2")] == [202, 200]
    event = Event.objects.filter(kind="grant.revoked").latest("pk")
    assert (event.actor_kind, '"session":"s1"' in event.canonical) == ("persona", True)


def test_a_call_in_no_session_is_not_approved_for_one(asked: Ask, people: Any) -> None:
    approval = asked()
    boss = people("boss", "execution.approve_run", "security.add_grant", "security.delete_grant")
    with pytest.raises(InvalidRequest, match="names no session"):
        approval_grant(by=boss, approval_id=approval.pk, session=True, reason="x")
    assert now_of(approval) == ("awaiting_approval", "")
    assert not Grant.objects.exists()


def test_four_eyes_hold_for_a_session_too(
    fx: Package, declare: Declare, call: Any, admin: User, persona: Persona
) -> None:
    declare("fx_echo", requiresApproval=True)
    run_id = in_session(call, "s1").json()["metadata"]["run_id"]
    pk = Approval.objects.get(run_id=run_id).pk
    with pytest.raises(Denied):  # who is responsible for the token
        approval_grant(by=admin, approval_id=pk, session=True, reason="x")
    Grant.objects.create(  # as if by hand
        persona=persona,
        capability="approved:fx_echo",
        reason="r",
        granted_by=admin,
        conditions=[{"kind": "session", "values": ["s1"]}],
        session="s1",
    )
    assert in_session(call, "s1").status_code == 202


@pytest.mark.parametrize(
    ("capability", "conditions", "hours"),
    [
        ("file:read", [{"kind": "session", "values": ["s1"]}], 1),
        ("approved:fx_echo", [{"kind": "session", "values": ["s1"]}], None),
        ("approved:fx_echo", [{"kind": "session", "values": ["s1", "s2"]}], 1),
        ("approved:fx_echo", [{"kind": "session", "values": []}], 1),
        ("approved:fx_echo", [{"kind": "session", "values": [1]}], 1),
        ("approved:fx_echo", [{"kind": "session", "values": ["a\0"]}], 1),
        (
            "approved:fx_echo",
            [{"kind": "session", "values": ["s1"]}, {"kind": "session", "values": ["s2"]}],
            1,
        ),
    ],
)
def test_only_approvals_are_for_one_session_and_end(
    fx: Package, people: Any, persona: Persona, capability: str, conditions: list[Any], hours: int | None
) -> None:
    boss = people("boss", "execution.approve_run", "security.add_grant")
    ends = timezone.now() + timedelta(hours=hours) if hours else None
    with pytest.raises(InvalidRequest):
        grant_create(
            by=boss,
            persona=persona,
            capability=capability,
            reason="r",
            conditions=conditions,
            expires_at=ends,
        )
    assert not Grant.objects.exists()
