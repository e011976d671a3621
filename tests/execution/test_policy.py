"""Restrictions, pauses and isolation in the execute path: denied from the next call on, and nothing happens."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from audit.models import Event
from execution.engine.call import call_of
from execution.engine.perform import queue_work
from execution.engine.store import current, known, postgres
from execution.models import Run, Status
from execution.runners.bounds import minimum_level
from registry.models import Package, ToolVersion
from security.models import Persona, User
from security.policy.models import Restriction
from security.policy.services import isolation_set, pause_begin, restriction_create, restriction_lift
from security.sandbox.levels import Level
from security.services import grant_create, persona_create
from tests.execution.fixtures import stores

pytestmark = pytest.mark.django_db
Call = Callable[..., Any]
DETACHED = {"HTTP_PREFER": "respond-async"}


@pytest.fixture(params=["hot path", "ORM"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of reading rules, where the database has both."""
    store = stores()[0] if request.param == "hot path" else stores()[-1]
    monkeypatch.setattr(current, "STORE", store)


def failed_check(answer: Any) -> dict[str, str]:
    """The check that denied."""
    checks = answer.json()["decision"]["checks"]
    found: dict[str, str] = next(check for check in checks if check["verdict"] == "fail")
    return found


def test_an_explicit_deny_wins_over_a_wider_grant(
    way: None, call: Call, fx: Package, admin: User, persona: Persona
) -> None:
    grant_create(by=admin, persona=persona, capability="file:*", reason="r")
    assert call("fx_capable", {}).status_code == 200
    row = restriction_create(by=admin, capability="file:read", reason="a leak")
    refused = call("fx_capable", {})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "PERMISSION_DENIED")
    check = failed_check(refused)
    assert check["reason"] == "A restriction denies calls that need file:read. Made by admin: a leak"
    assert (check["name"], check["who"]) == ("restrictions", "an operator or an admin")
    assert Run.objects.count() == 1
    assert Event.objects.filter(kind="run.refused").count() == 1
    restriction_lift(by=admin, restriction=row)
    assert call("fx_capable", {}).status_code == 200


@pytest.mark.parametrize(
    "named", [{"tool": "fx_echo"}, {"persona": True}, {"tool": "fx_echo", "persona": True}]
)
def test_a_restriction_denies_exactly_what_it_names(
    way: None, call: Call, fx: Package, admin: User, persona: Persona, named: dict[str, Any]
) -> None:
    wanted = {**named, "persona": persona} if "persona" in named else named
    other = persona_create(by=admin, name="other")
    restriction_create(by=admin, persona=other, reason="r")
    restriction_create(by=admin, tool="fx_boom", reason="r")
    assert call("fx_echo", {"value": 1}).status_code == 200
    restriction_create(by=admin, reason="r", **wanted)
    assert call("fx_echo", {"value": 1}).status_code == 403
    assert call("fx_big", {"size": 1}).status_code == (200 if "tool" in named else 403)


def test_a_restriction_ends_at_its_time(way: None, call: Call, fx: Package, admin: User) -> None:
    soon = timezone.now() + timedelta(days=1)
    restriction_create(by=admin, tool="fx_echo", reason="r", expires_at=soon)
    assert "until" in failed_check(call("fx_echo", {"value": 1}))["reason"]
    Restriction.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert call("fx_echo", {"value": 1}).status_code == 200


@pytest.mark.parametrize("what", ["hub", "persona", "tool"])
def test_a_pause_refuses_the_next_call_and_says_who_and_why(
    way: None, call: Call, fx: Package, admin: User, persona: Persona, what: str
) -> None:
    named: dict[str, Any] = {"hub": {}, "persona": {"persona": persona}, "tool": {"tool": "fx_echo"}}[what]
    words = {"hub": "The hub", "persona": "The persona researcher", "tool": "The tool fx_echo"}[what]
    row = pause_begin(by=admin, reason="an incident", **named)
    refused = call("fx_echo", {"value": 1})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "PAUSED")
    assert failed_check(refused)["reason"] == f"{words} is paused by admin: an incident"
    assert not Run.objects.exists()
    restriction_lift(by=admin, restriction=row)
    assert call("fx_echo", {"value": 1}).status_code == 200


def test_runs_that_wait_are_held_by_a_pause_and_go_on_after_it(
    way: None, call: Call, fx: Package, admin: User, persona: Persona
) -> None:
    for tool, arguments in (("fx_echo", {"value": 1}), ("fx_big", {"size": 1})):
        assert call(tool, arguments, **DETACHED).status_code == 202
    Run.objects.update(due_at=timezone.now() - timedelta(seconds=5))
    row = pause_begin(by=admin, tool="fx_echo", reason="r")
    assert queue_work("default") == 1
    assert dict(Run.objects.values_list("tool", "status")) == {
        "fx_echo": Status.PENDING,
        "fx_big": Status.COMPLETED,
    }
    restriction_lift(by=admin, restriction=row)
    assert queue_work("default") == 1
    assert Run.objects.get(tool="fx_echo").status == Status.COMPLETED


def test_a_restriction_that_comes_while_a_run_waits_ends_it_before_its_start(
    way: None, call: Call, fx: Package, admin: User
) -> None:
    assert call("fx_echo", {"value": 1}, **DETACHED).status_code == 202
    Run.objects.update(due_at=timezone.now() - timedelta(seconds=5))
    restriction_create(by=admin, tool="fx_echo", reason="a leak")
    queue_work("default")
    run = Run.objects.get()
    assert (run.status, run.started_at) == (Status.FAILED, None)
    assert run.error["code"] == "PERMISSION_DENIED"
    assert "a leak" in run.error["message"]


def test_a_tool_that_may_not_be_seen_is_missing_whatever_else_is_wrong(
    way: None, call: Call, admin: User, persona: Persona, published: None
) -> None:
    pause_begin(by=admin, tool="echo", reason="r")
    Persona.objects.update(is_active=False)
    here, nowhere = call("echo", {"text": "a"}), call("no_such", {"text": "a"})
    assert here.status_code == nowhere.status_code == 404
    assert "decision" not in here.json()


def test_a_persona_that_asks_for_a_sandbox_gets_no_built_in_tool(
    way: None, call: Call, fx: Package, admin: User, persona: Persona
) -> None:
    isolation_set(by=admin, persona=persona, isolation="strict")
    refused = call("fx_echo", {"value": 1})
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "SANDBOX_UNAVAILABLE")
    assert "The persona asks for strict" in refused.json()["detail"]
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("least", "asked", "held", "warned"),
    [
        ("", None, Level.CONFINED, False),
        ("", "paranoid", Level.ISOLATED, False),
        ("", "none", Level.CONFINED, True),
        ("", "basic", Level.CONFINED, True),
        ("paranoid", None, Level.ISOLATED, False),
        ("paranoid", "strict", Level.ISOLATED, True),
        ("basic", None, Level.CONFINED, False),
        ("strict", "paranoid", Level.ISOLATED, False),
    ],
)
def test_code_from_outside_is_held_as_strictly_as_tool_persona_or_call_ask(
    way: None,
    call: Call,
    fx: Package,
    admin: User,
    persona: Persona,
    monkeypatch: pytest.MonkeyPatch,
    least: str,
    asked: str | None,
    held: Level,
    warned: bool,
) -> None:
    monkeypatch.setattr(postgres, "version_kept", known.version_kept.__wrapped__)
    ToolVersion.objects.filter(tool__name="fx_echo").update(runner="python")
    isolation_set(by=admin, persona=persona, isolation=least)
    body = {"arguments": {"value": 1}} | ({"isolation_level": asked} if asked else {})
    answer = call("fx_echo", body=body, **DETACHED)
    assert answer.status_code == 202
    run = Run.objects.get()
    assert minimum_level(call_of(run, inline=False, attempt=1)) == held
    assert any("was ignored" in warning for warning in run.warnings) is warned
