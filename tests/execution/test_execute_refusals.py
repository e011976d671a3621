"""Calls that are refused: by which status and code, in which order, and that nothing happened."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit.models import Denial, Event
from core.actors import SYSTEM
from execution.models import Attempt, IdempotencyKey, Run, RunEvent
from registry.models import Assignment, Package, Release, ToolVersion, VersionState
from registry.releases.publish import release_publish
from registry.services import assignment_delete
from security.models import Grant, Persona, User
from security.services import grant_create, grant_revoke

pytestmark = pytest.mark.django_db
Call = Callable[..., Any]
Assign = Callable[[str], None]


def nothing_happened() -> None:
    for model in (Run, Attempt, RunEvent, IdempotencyKey):
        assert not model.objects.exists()  # type: ignore[attr-defined]


def refused(response: Any, status: int, code: str) -> Any:
    body = response.json()
    assert (response.status_code, body["error"]["code"], body["status"]) == (status, code, status), body
    assert response["Content-Type"] == "application/problem+json"
    nothing_happened()
    return body


# --- 401, 404 ---


def test_without_a_token_it_is_401(call: Call, assign: Assign) -> None:
    assign("echo")
    response = call("echo", {"text": "a"}, HTTP_AUTHORIZATION="")
    refused(response, 401, "UNAUTHENTICATED")
    assert response["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("suffix", ["", "@1", "@1.0.0", "@7.7.7"])
def test_unassigned_and_unknown_tools_look_alike(call: Call, published: None, suffix: str) -> None:
    unassigned, unknown = call(f"echo{suffix}", {"text": "a"}), call(f"nope{suffix}", {"text": "a"})
    refused(unassigned, 404, "TOOL_NOT_FOUND")
    assert unassigned.content == unknown.content.replace(b"nope", b"echo")
    assert set(unassigned.headers) == set(unknown.headers)


def test_an_assignment_that_is_taken_back_is_gone_on_the_next_call(
    call: Call, assign: Assign, admin: User
) -> None:
    assign("echo")
    assignment_delete(by=admin, assignment=Assignment.objects.get())
    refused(call("echo", {"text": "a"}), 404, "TOOL_NOT_FOUND")


@pytest.mark.parametrize("name", ["%00", "a%00b", "x" * 500, "%F0%9F%98%80", "'%20OR%201=1--"])
def test_a_hostile_name_is_a_tool_that_does_not_exist(call: Call, published: None, name: str) -> None:
    assert call(name, {}).status_code == 404
    nothing_happened()


def test_a_missing_version_is_told_only_to_who_sees_the_tool(call: Call, assign: Assign) -> None:
    assign("echo")
    refused(call("echo@2", {"text": "a"}), 404, "VERSION_NOT_FOUND")
    refused(call("echo", body={"arguments": {"text": "a"}, "version": "2.0.0"}), 404, "VERSION_NOT_FOUND")


@pytest.mark.parametrize("version", ["latest", "^1", "1.x", "1.0.0.0", "\x00"])
def test_what_is_no_version_is_422(call: Call, assign: Assign, version: str) -> None:
    assign("echo")
    refused(call("echo", body={"arguments": {"text": "a"}, "version": version}), 422, "INVALID_REQUEST")


# --- 403 ---


def test_a_missing_capability_is_403_with_the_decision_and_who_can_grant_it(call: Call, fx: Package) -> None:
    body = refused(call("fx_capable", {}), 403, "CAPABILITY_MISSING")
    failed = [check for check in body["decision"]["checks"] if check["verdict"] == "fail"]
    assert [check["name"] for check in failed] == ["capabilities"]
    assert failed[0]["reason"] == "researcher may not: file:read:tmp is missing."
    assert failed[0]["who"]
    assert "Grant file:read:tmp to researcher." in body["error"]["suggestions"][0]
    assert body["decision"]["allowed"] is False


@pytest.mark.parametrize("capability", ["file:read:tmp", "file:read:*", "file", "*"])
def test_a_grant_that_holds_it_lets_the_call_pass_and_revoking_ends_it(
    call: Call, fx: Package, admin: User, persona: Persona, capability: str
) -> None:
    grant = grant_create(by=admin, persona=persona, capability=capability, reason="test")
    assert call("fx_capable", {}).status_code == 200
    grant_revoke(by=admin, grant=grant)
    assert call("fx_capable", {}).status_code == 403
    assert Run.objects.count() == 1


def test_an_expired_grant_holds_nothing(call: Call, fx: Package, admin: User, persona: Persona) -> None:
    grant = grant_create(by=admin, persona=persona, capability="file", reason="test")
    Grant.objects.filter(pk=grant.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    body = refused(call("fx_capable", {}), 403, "CAPABILITY_MISSING")
    assert "file:read:tmp is expired" in body["detail"]


def test_a_deprecated_version_runs_with_a_warning(call: Call, assign: Assign) -> None:
    assign("echo")
    ToolVersion.objects.filter(tool__name="echo").update(state=VersionState.DEPRECATED)
    response = call("echo", {"text": "a"})
    assert response.status_code == 200
    assert response.json()["metadata"]["warnings"] == ["echo 1.0.0 is deprecated."]


@pytest.mark.parametrize(
    ("state", "code"), [(VersionState.YANKED, "VERSION_YANKED"), (VersionState.QUARANTINED, "QUARANTINED")]
)
def test_a_version_that_was_taken_away_is_403_on_the_next_call(
    call: Call, assign: Assign, state: VersionState, code: str
) -> None:
    assign("echo")
    assert call("echo", {"text": "a"}).status_code == 200
    Attempt.objects.all().delete()
    RunEvent.objects.all().delete()
    Run.objects.all().delete()
    ToolVersion.objects.filter(tool__name="echo").update(state=state)
    refused(call("echo", {"text": "a"}), 403, code)
    refused(call("echo@1.0.0", {"text": "a"}), 403, code)


# --- 422 ---


def test_arguments_that_do_not_fit_are_422_with_a_pointer_to_each(call: Call, assign: Assign) -> None:
    assign("calculate")
    body = refused(
        call("calculate", {"operation": "power", "num1": "1", "num2": 2}), 422, "INVALID_ARGUMENTS"
    )
    assert {error["pointer"] for error in body["errors"]} == {"/arguments/operation", "/arguments/num1"}
    assert all(error["message"] for error in body["errors"])


@pytest.mark.parametrize(
    "body", [{}, {"arguments": {}}, {"arguments": {"text": 1}}, {"arguments": {"text": "a", "other": 1}}]
)
def test_missing_wrong_and_further_arguments_are_422(call: Call, assign: Assign, body: Any) -> None:
    assign("echo")
    refused(call("echo", body=body), 422, "INVALID_ARGUMENTS")


@pytest.mark.parametrize(
    "member", ["argument", "Arguments", "principal", "run_id", "timeout_ms", "a/b", "m~n", ""]
)
def test_a_member_that_nobody_knows_is_422_with_its_pointer(call: Call, assign: Assign, member: str) -> None:
    assign("echo")
    body = refused(call("echo", body={"arguments": {"text": "a"}, member: 1}), 422, "UNKNOWN_MEMBER")
    escaped = member.replace("~", "~0").replace("/", "~1")
    assert [error["pointer"] for error in body["errors"]] == [f"/{escaped}"]


BAD_MEMBERS = [
    ({"arguments": []}, "/arguments"),
    ({"version": 1}, "/version"),
    ({"context": "s"}, "/context"),
    ({"context": {"session_id": ""}}, "/context/session_id"),
    ({"context": {"session_id": "x" * 129}}, "/context/session_id"),
    ({"context": {"session_id": "a\0b"}}, "/context/session_id"),
    ({"context": {"agent_id": 7}}, "/context/agent_id"),
    ({"context": {"persona": "admin"}}, "/context/persona"),
    ({"context": {"a/b": "x"}}, "/context/a~1b"),
    ({"context_data": []}, "/context_data"),
    ({"hints": 1}, "/hints"),
    ({"limits": []}, "/limits"),
    ({"limits": {"timeoutMs": 0}}, "/limits/timeoutMs"),
    ({"limits": {"timeoutMs": -1}}, "/limits/timeoutMs"),
    ({"limits": {"timeoutMs": True}}, "/limits/timeoutMs"),
    ({"limits": {"timeoutMs": 1.5}}, "/limits/timeoutMs"),
    ({"limits": {"timeoutMs": "9"}}, "/limits/timeoutMs"),
    ({"limits": {"maxFuel": 1}}, "/limits/maxFuel"),
    ({"isolation_level": "total"}, "/isolation_level"),
    ({"isolation_level": 3}, "/isolation_level"),
]


@pytest.mark.parametrize(("members", "at"), BAD_MEMBERS, ids=lambda v: json.dumps(v)[:40])
def test_a_member_that_does_not_fit_is_pointed_to(call: Call, assign: Assign, members: Any, at: str) -> None:
    assign("echo")
    body = refused(call("echo", body={"arguments": {"text": "a"}, **members}), 422, "INVALID_REQUEST")
    assert [error["pointer"] for error in body["errors"]] == [at]


@pytest.mark.parametrize("raw", [b"[]", b'"text"', b"null", b"7"])
def test_a_body_that_is_no_object_is_422(call: Call, assign: Assign, raw: bytes) -> None:
    assign("echo")
    refused(call("echo", body=raw), 422, "INVALID_REQUEST")


@pytest.mark.parametrize("level", ["strict", "paranoid"])
def test_isolation_that_a_built_in_tool_cannot_have_is_refused(
    call: Call, assign: Assign, level: str
) -> None:
    assign("echo")
    body = {"arguments": {"text": "a"}, "isolation_level": level}
    refused(call("echo", body=body), 422, "SANDBOX_UNAVAILABLE")


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_a_key_that_is_empty_or_too_long_is_422(call: Call, assign: Assign, key: str) -> None:
    assign("echo")
    refused(call("echo", {"text": "a"}, HTTP_IDEMPOTENCY_KEY=key), 422, "INVALID_REQUEST")


# --- order, and what is recorded ---


def test_what_may_not_be_called_is_not_validated(call: Call, fx: Package) -> None:
    """403 before 422: the schema's errors are for those who may call."""
    refused(call("fx_capable", {"wrong": 1}), 403, "CAPABILITY_MISSING")


def test_denied_then_invalid_then_done_are_rows_of_the_persona(
    call: Call, fx: Package, admin: User, persona: Persona, client: Client
) -> None:
    """Permission before arguments before execution; nothing runs before the third, and each is in the audit."""
    refused(call("fx_capable", {"wrong": 1}), 403, "CAPABILITY_MISSING")
    grant_create(by=admin, persona=persona, capability="file:read:tmp", reason="test")
    refused(call("fx_capable", {"wrong": 1}), 422, "INVALID_ARGUMENTS")
    assert not Run.objects.exists()
    assert call("fx_capable", {}).json()["data"] == "done"
    client.force_login(admin)
    rows = client.get("/audit/?actor_kind=persona").context["page"].rows
    assert [row.kind for row in rows] == ["run.outcome", "run.accepted", "run.refused", "run.refused"]
    codes = [json.loads(row.canonical)["data"].get("code") for row in rows]
    assert codes == [None, None, "INVALID_ARGUMENTS", "CAPABILITY_MISSING"]


def test_what_may_not_be_seen_is_not_validated(call: Call, published: None) -> None:
    refused(call("echo", {"wrong": 1}), 404, "TOOL_NOT_FOUND")


def test_a_refusal_is_recorded_with_its_decision_and_never_the_arguments(call: Call, fx: Package) -> None:
    call("fx_capable", {"secret": "hunter2"})
    event = Event.objects.get(kind="run.refused")
    assert "hunter2" not in event.canonical
    told = json.loads(event.canonical)
    assert told["data"]["code"] == "CAPABILITY_MISSING"
    assert told["data"]["decision"]["allowed"] is False
    assert told["data"]["responsible"] == "admin"
    assert told["actor"]["name"] == "researcher"


def test_invalid_arguments_are_recorded_by_pointers_alone(call: Call, assign: Assign) -> None:
    assign("echo")
    call("echo", {"text": ["hunter2"]})
    event = Event.objects.get(kind="run.refused")
    assert "hunter2" not in event.canonical
    assert json.loads(event.canonical)["data"]["errors"] == ["/arguments/text"]


def test_many_refusals_are_one_event_and_a_count(
    call: Call, published: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when each names another tool: names that do not exist are without number."""
    monkeypatch.setattr("audit.denials.time.time", lambda: 1_800_000_000.0)
    for number in range(5):
        call(f"nope{number}", {})
    assert Event.objects.filter(kind="run.refused").count() == 1
    assert Denial.objects.get().count == 4


# --- versions ---


def newer(assign: Assign) -> None:
    assign("echo")
    manifest = {**Release.objects.get(package__name="toolhub-data").manifest, "version": "1.1.0"}
    release_publish(by=SYSTEM, manifest=manifest, files={})


@pytest.mark.parametrize(
    ("name", "version", "used"),
    [
        ("echo", None, "1.1.0"),
        ("echo", "", "1.1.0"),
        ("echo", "1.0.0", "1.0.0"),
        ("echo", "1.0", "1.0.0"),
        ("echo", "1", "1.1.0"),
        ("echo@1.0.0", None, "1.0.0"),
        ("echo@1", None, "1.1.0"),
        ("echo@1.0.0", "1.0.0", "1.0.0"),
    ],
)
def test_a_version_can_stand_in_the_name_or_in_the_body(
    call: Call, assign: Assign, name: str, version: str | None, used: str
) -> None:
    newer(assign)
    members = {} if version is None else {"version": version}
    response = call(name, body={"arguments": {"text": "a"}, **members})
    assert response.status_code == 200
    assert response.json()["metadata"]["version"] == used


def test_two_versions_that_contradict_are_refused(call: Call, assign: Assign) -> None:
    newer(assign)
    body = {"arguments": {"text": "a"}, "version": "1.1.0"}
    refused(call("echo@1.0.0", body=body), 422, "INVALID_REQUEST")
