"""Preconditions: five types, critical or not, checked once before the first attempt, told in run and validate."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.db.models.functions import Now
from django.test import Client
from django.utils import timezone

from execution.engine.begin import begin_next
from execution.engine.perform import run_carry_out
from execution.engine.places import Place
from execution.engine.selectors import first_id_at
from execution.features.preconditions import runs
from execution.features.preconditions.models import Resource
from execution.features.preconditions.resources import resource_add, resource_remove, resource_switch
from execution.memory.services import memory_put
from execution.models import Run, RunEvent, Status
from registry.models import ToolVersion, VersionState
from security.models import Grant, Persona, User
from security.permissions import actor_of
from security.services import grant_create
from security.signing import signing_secret_create
from tests.execution.fixtures import Declare
from tests.receiver import Receiver, status

pytestmark = pytest.mark.django_db
Call = Callable[..., Any]
TOOL = "fx_degraded"
FIVE = ["passed", "critical_failed", "can_proceed", "degraded_mode", "results"]


def needs(kind: str, description: str = "It holds.", **members: Any) -> dict[str, Any]:
    return {"type": kind, "description": description, **members}


@pytest.fixture
def answer(call: Call, declare: Declare) -> Callable[..., Any]:
    """Calls the tool under these preconditions; the answer."""

    def do(*preconditions: dict[str, Any], arguments: Any = None, **more: Any) -> Any:
        declare(TOOL, preconditions=list(preconditions))
        return call(TOOL, body={"arguments": arguments or {}, **more}).json()

    return do


def outcome(told: Any) -> str:
    """`ok`, `degraded`, or the error's code."""
    if told["success"]:
        return "degraded" if told["metadata"]["degraded"] else "ok"
    return str(told["error"]["code"])


@pytest.mark.parametrize(
    ("members", "up", "down"),
    [
        ({"availability": "required"}, "ok", "PRECONDITION_FAILED"),
        ({}, "ok", "PRECONDITION_FAILED"),
        ({"availability": "preferred"}, "ok", "degraded"),
        ({"critical": False}, "ok", "degraded"),
        ({"availability": "preferred", "critical": True}, "ok", "degraded"),
    ],
)
def test_a_resource_is_up_or_down(
    answer: Callable[..., Any], admin: User, members: dict[str, Any], up: str, down: str
) -> None:
    wanted = needs("resource", "The printer works.", resource="fx.res", **members)
    assert outcome(answer(wanted)) == down
    resource = resource_add(by=admin, name="fx.res")
    assert outcome(answer(wanted)) == up
    resource_switch(by=admin, resource=resource, is_up=False, reason="No paper.")
    told = answer(wanted)
    assert outcome(told) == down
    assert "No paper." in str(Run.objects.latest("id").preconditions)
    assert told["data"] == (["The printer works."] if down == "degraded" else None)
    resource_switch(by=admin, resource=resource, is_up=True)
    assert outcome(answer(wanted)) == up
    resource_remove(by=admin, resource=resource)
    assert outcome(answer(wanted)) == down


def test_a_resource_with_an_address_is_asked(
    answer: Callable[..., Any], admin: User, receiver: Receiver, settings: Any
) -> None:
    settings.HTTP_ALLOW = ("127.0.0.1",)
    receiver.answers = [status(200), status(503)]
    resource = resource_add(by=admin, name="fx.res", url=f"http://127.0.0.1:{receiver.port}/health")
    wanted = needs("resource", resource="fx.res")
    assert [outcome(answer(wanted)) for _ in range(2)] == ["ok", "ok"]
    assert len(receiver.got) == 1  # the answer is kept for ten seconds
    Resource.objects.update(checked_at=timezone.now() - timedelta(seconds=11))
    assert outcome(answer(wanted)) == "PRECONDITION_FAILED"
    assert Resource.objects.get().reason == "It answered 503."
    assert resource.pk


STATES = [
    ({"expression": "value > 0"}, 1, "ok"),
    ({"expression": "value > 0"}, 0, "PRECONDITION_FAILED"),
    ({"expression": "value > 0"}, None, "PRECONDITION_FAILED"),
    ({"expression": "value > 0"}, "many", "PRECONDITION_FAILED"),
    ({"expectedValue": {"a": [1]}}, {"a": [1]}, "ok"),
    ({"expectedValue": 1}, True, "PRECONDITION_FAILED"),
    ({"expectedValue": False}, False, "ok"),
    ({"expectedValue": None}, None, "PRECONDITION_FAILED"),
]


@pytest.mark.parametrize(("members", "value", "expected"), STATES)
@pytest.mark.parametrize("scope", ["working", "short-term", "long-term"])
def test_a_state_is_what_the_session_remembers(
    answer: Callable[..., Any],
    persona: Persona,
    admin: User,
    scope: str,
    members: Any,
    value: Any,
    expected: str,
) -> None:
    """None stands for nothing remembered."""
    place = Place(persona.pk, "s")
    if value is not None:
        memory_put(by=actor_of(admin), place=place, scope=scope, key="api.rateLimit.remaining", value=value)
    wanted = needs("state", state="api.rateLimit.remaining", **members)
    assert outcome(answer(wanted, context={"session_id": "s"})) == expected


def test_a_permission_is_held_or_named(answer: Callable[..., Any], admin: User, persona: Persona) -> None:
    wanted = needs("permission", "It may drive a browser.", permission="browser:automate")
    told = answer(wanted)
    assert outcome(told) == "PRECONDITION_FAILED"
    assert "browser:automate" in told["error"]["message"]
    assert "grant" in told["error"]["message"]
    grant_create(by=admin, persona=persona, capability="browser", reason="test")
    assert outcome(answer(wanted)) == "ok"
    # Conditions of a grant count as they do for what the tool itself needs.
    for expression, expected in (
        ("size(arguments) == 0", "ok"),
        ("size(arguments) == 1", "PRECONDITION_FAILED"),
    ):
        Grant.objects.update(conditions=[{"kind": "cel", "expression": expression}])
        told = answer(wanted)
        assert outcome(told) == expected
    assert "only where size(arguments) == 1" in told["error"]["message"]
    Grant.objects.update(conditions=[], expires_at=timezone.now() - timedelta(seconds=1))
    assert outcome(answer(wanted)) == "PRECONDITION_FAILED"


@pytest.mark.parametrize("session", [{}, {"context": {"session_id": "s"}}])
def test_a_dependency_has_succeeded_in_this_session(
    answer: Callable[..., Any], call: Call, session: dict[str, Any]
) -> None:
    wanted = needs("dependency", tool="fx_echo", status="completed")
    assert outcome(answer(wanted, **session)) == "PRECONDITION_FAILED"
    call("fx_echo", body={"arguments": {"value": 1}, "context": {"session_id": "other"}})
    call("fx_boom", body={"arguments": {}, **session})
    assert outcome(answer(wanted, **session)) == "PRECONDITION_FAILED"
    call("fx_echo", body={"arguments": {"value": 1}, **session})
    assert outcome(answer(wanted, **session)) == "ok"
    if not session:
        long_ago = first_id_at(timezone.now() - timedelta(hours=25))
        Run.objects.filter(tool="fx_echo", session="").delete()
        assert Run.objects.filter(pk__lt=long_ago).count() == 0
        assert outcome(answer(wanted)) == "PRECONDITION_FAILED"


def test_a_dependency_is_available_unless_it_is_withdrawn(answer: Callable[..., Any]) -> None:
    wanted = needs("dependency", tool="fx_echo", status="available")
    assert outcome(answer(wanted)) == "ok"
    version = ToolVersion.objects.filter(tool__name="fx_echo")
    for state, expected in (
        (VersionState.DEPRECATED, "ok"),
        (VersionState.YANKED, "PRECONDITION_FAILED"),
        (VersionState.QUARANTINED, "PRECONDITION_FAILED"),
    ):
        version.update(state=state, state_reason="for a reason")
        assert outcome(answer(wanted)) == expected
    assert outcome(answer({**wanted, "tool": "nothing"})) == "PRECONDITION_FAILED"


CUSTOM = [
    ("arguments.n > 1", "PRECONDITION_FAILED"),
    ("context.session_id == 's'", "ok"),
    ("timestamp(now) > timestamp('2026-01-01T00:00:00Z')", "ok"),
    ("1 / 0 == 1", "PRECONDITION_FAILED"),
    ("'yes'", "PRECONDITION_FAILED"),
]


@pytest.mark.parametrize(("expression", "expected"), CUSTOM)
def test_a_custom_condition_is_true_false_or_an_error_that_is_told(
    answer: Callable[..., Any], expression: str, expected: str
) -> None:
    told = answer(needs("custom", expression=expression), context={"session_id": "s"})
    assert outcome(told) == expected
    (result,) = Run.objects.get().preconditions["results"]  # type: ignore[index]
    assert (result["error"] is None) == (expected == "ok")


def test_a_check_by_name(answer: Callable[..., Any], admin: User, persona: Persona) -> None:
    wanted = needs("custom", check="persona:signing")
    assert outcome(answer(wanted)) == "PRECONDITION_FAILED"
    signing_secret_create(by=admin, persona=persona)
    assert outcome(answer(wanted)) == "ok"
    told = answer({**wanted, "check": "unheard:of"})
    assert "persona:signing" in told["error"]["message"]


MIXED = [
    needs("custom", "A holds.", expression="true"),
    needs("permission", "B holds.", permission="a:b"),
    needs("custom", "C holds.", expression="true", critical=False),
    needs("resource", "D holds.", resource="d", availability="preferred"),
    needs("dependency", "E holds.", tool="fx_echo", status="available"),
]


def test_all_are_told_and_the_tool_is_not_called(
    answer: Callable[..., Any], client: Client, token_text: str
) -> None:
    told = answer(*MIXED)
    assert told["error"]["suggestions"] == ["B holds.", "D holds."]
    assert (told["error"]["recoverable"], told["metadata"]["attempts"]) == (True, 1)
    found = told["error"]["details"]["preconditions"]
    assert list(found) == sorted(FIVE)
    assert [one["passed"] for one in found["results"]] == [True, False, True, False, True]
    assert [one["critical"] for one in found["results"]] == [True, True, False, False, True]
    flags = (found["passed"], found["critical_failed"], found["can_proceed"], found["degraded_mode"])
    assert flags == (False, True, False, False)
    run_id = told["metadata"]["run_id"]
    read = client.get(f"/api/v1/runs/{run_id}", HTTP_AUTHORIZATION=f"Bearer {token_text}").json()
    assert read["preconditions"] == found
    event = RunEvent.objects.get(kind="PRECONDITIONS_CHECKED")
    assert event.data == {"passed": False, "failed": ["B holds.", "D holds."]}


def test_the_degraded_tool_hears_what_failed(answer: Callable[..., Any]) -> None:
    told = answer(*(one for one in MIXED if one["description"] != "B holds."))
    assert (told["data"], told["metadata"]["degraded"]) == (["D holds."], True)


@pytest.fixture
def validate(client: Client, token_text: str) -> Callable[..., Any]:
    def do(tool: str, arguments: Any) -> Any:
        body = {"operation": "validate", "parameters": {"toolName": tool, "arguments": arguments}}
        answer = client.post(
            "/api/v1/execute",
            body,
            content_type="application/json",
            HTTP_AUTHORIZATION=f"Bearer {token_text}",
        )
        assert answer.status_code == 200, answer.content
        return answer.json()

    return do


def test_validate_tells_the_same_and_runs_nothing(declare: Declare, validate: Callable[..., Any]) -> None:
    declare(TOOL, preconditions=MIXED)
    told = validate(TOOL, {})
    (result,) = told["results"]
    assert set(result["preconditions"]) == set(FIVE)
    assert len(result["preconditions"]["results"]) == 5
    assert (result["status"], result["error"]["code"], told["metadata"]["valid"]) == (
        "failure",
        "PRECONDITION_FAILED",
        False,
    )
    assert result["error"]["suggestions"] == ["B holds.", "D holds."]
    declare(TOOL, preconditions=MIXED[2:])
    (result,) = validate(TOOL, {})["results"]
    assert (result["status"], result["preconditions"]["degraded_mode"]) == ("success", True)
    (result,) = validate("fx_echo", {"value": 1})["results"]
    assert result["preconditions"] is None
    assert Run.objects.count() == 0


def test_arguments_are_judged_before_preconditions(call: Call, declare: Declare) -> None:
    declare("fx_echo", preconditions=[needs("custom", expression="false")])
    answer = call("fx_echo", {"wrong": 1})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "INVALID_ARGUMENTS")
    assert Run.objects.count() == 0


def test_they_are_checked_once_before_the_first_of_several_attempts(
    call: Call, declare: Declare, admin: User, tmp_path: Path
) -> None:
    resource = resource_add(by=admin, name="r")
    declare("fx_fail", preconditions=[needs("resource", resource="r")], retry={"maxRetries": 2})
    call("fx_fail", {"file": str(tmp_path / "f"), "times": 1}, HTTP_PREFER="respond-async")
    for is_up in (False, True):
        Run.objects.update(due_at=Now() - timedelta(seconds=1))
        Run.objects.filter(status=Status.WAITING_RETRY).update(status=Status.PENDING)
        begun = begin_next("default")
        assert begun
        assert begun.lease
        run_carry_out(begun.lease)
        resource_switch(by=admin, resource=resource, is_up=is_up)
    assert Run.objects.get().status == Status.COMPLETED
    assert RunEvent.objects.filter(kind="PRECONDITIONS_CHECKED").count() == 1


def test_where_the_lease_is_lost_while_they_are_checked_the_tool_does_not_begin(
    call: Call, declare: Declare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare("fx_count", preconditions=[needs("custom", expression="true")])
    file = tmp_path / "f"
    call("fx_count", {"file": str(file)}, HTTP_PREFER="respond-async")
    Run.objects.update(due_at=Now() - timedelta(seconds=1))

    def then_taken(*given: Any) -> Any:
        Run.objects.update(lease_token=uuid.uuid4())
        return check(*given)

    check = runs.preconditions_check
    monkeypatch.setattr(runs, "preconditions_check", then_taken)
    begun = begin_next("default")
    assert begun
    assert begun.lease
    assert run_carry_out(begun.lease) is False
    assert not file.exists()
    run = Run.objects.get()
    assert (run.status, run.preconditions) == (Status.RUNNING, None)
    assert not RunEvent.objects.filter(kind="PRECONDITIONS_CHECKED").exists()


def test_a_failed_precondition_is_not_retried(call: Call, declare: Declare, tmp_path: Path) -> None:
    declare("fx_fail", preconditions=[needs("custom", expression="false")], retry={"maxRetries": 3})
    told = call("fx_fail", {"file": str(tmp_path / "f")}).json()
    assert (told["error"]["code"], told["metadata"]["status"]) == ("PRECONDITION_FAILED", "failed")
    assert not (tmp_path / "f").exists()


def test_an_expired_run_keeps_no_arguments_in_its_answer(answer: Callable[..., Any]) -> None:
    """Reasons name keys and capabilities, never values."""
    told = answer(needs("state", state="k", expectedValue="hunter2"))
    assert "hunter2" not in orjson.dumps(told).decode()
