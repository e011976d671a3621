"""Another tool is called where one has failed: as a child run, with the caller's rights, and the answer says so."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from audit.models import Event
from core.errors import InvalidRequest
from execution.engine.begin import begin_next
from execution.engine.invariants import invariants_check
from execution.engine.perform import queue_work, run_carry_out
from execution.engine.submit import run_cancel
from execution.features.recovery import end
from execution.models import Run, Status
from registry.models import ToolVersion
from registry.releases.activation import release_activate_tools
from security.models import User
from security.permissions import actor_of
from tests.execution.effects.conftest import memory, remembered
from tests.execution.fixtures import Declare
from tests.execution.recovery.conftest import Fail, now_of, work

pytestmark = pytest.mark.django_db


def fallback(tool: str) -> dict[str, Any]:
    return {"type": "fallback", "fallbackTool": tool}


def kinds(run: Run) -> list[str]:
    return list(run.events.order_by("seq").values_list("kind", flat=True))


def test_the_caller_gets_what_the_fallback_gave_and_is_told(
    fail: Fail, client: Client, token_text: str
) -> None:
    run = fail(fallback("fx_context"), "fx_boom", context={"session_id": "s"})
    child = run.children.get()
    assert (child.tool, child.status, child.arguments) == ("fx_context", Status.COMPLETED, {})
    assert (child.persona_id, child.token_id, child.session) == (run.persona_id, run.token_id, "s")
    told = client.get(f"/api/v1/runs/{run.pk}", HTTP_AUTHORIZATION=f"Bearer {token_text}").json()
    assert (told["success"], told["data"]) == (True, child.result)
    assert told["metadata"]["warnings"] == [
        "fx_boom failed with EXECUTION_FAILED. This is what fx_context gave instead."
    ]
    recovery = told["metadata"]["recovery"]
    assert (recovery["type"], recovery["tool"], recovery["run_id"]) == (
        "fallback",
        "fx_context",
        str(child.pk),
    )
    assert recovery["error"]["code"] == "EXECUTION_FAILED"
    assert [one["status"] for one in told["attempts"]] == ["failed"]
    assert kinds(run)[-2:] == ["FALLBACK_CALLED", "TOOL_CALL_COMPLETED"]
    assert Event.objects.filter(kind="run.outcome", run_id=run.pk).count() == 1
    assert invariants_check().faults == {}


def test_one_turn_ends_all_that_wait_and_a_mistake_over_one_holds_up_no_other(
    call: Callable[..., Any], declare: Declare, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare("fx_boom", recovery=fallback("fx_context"))
    for _ in range(4):
        call("fx_boom", body={"arguments": {}}, HTTP_PREFER="respond-async")
    while queue_work("default"):
        pass
    bad, *good = Run.objects.filter(tool="fx_boom").order_by("pk")
    plain = end._outcome

    def outcome(run: Run, child: Run) -> Any:
        if run.pk == bad.pk:
            raise RuntimeError
        return plain(run, child)

    monkeypatch.setattr(end, "_outcome", outcome)
    monkeypatch.setattr(end, "BATCH", 1)
    assert end.fallbacks_end() == len(good) == 3
    assert {now_of(run).status for run in good} == {Status.COMPLETED}
    assert now_of(bad).status == Status.WAITING_STEPS
    monkeypatch.setattr(end, "_outcome", plain)
    assert end.fallbacks_end() == 1


@pytest.mark.parametrize(
    ("tool", "other", "why"),
    [
        ("fx_boom", "fx_exit", {"failed": "EXECUTION_FAILED"}),
        ("fx_badout", "fx_context", {"failed": "INVALID_OUTPUT"}),
        ("fx_boom", "fx_capable", {"refused": "CAPABILITY_MISSING"}),
        ("fx_boom", "fx_wrap", {"refused": "INVALID_ARGUMENTS"}),
        ("fx_boom", "nothing", {"refused": "TOOL_NOT_FOUND"}),
    ],
)
def test_where_it_does_not_help_the_tools_own_error_stands(
    fail: Fail, tool: str, other: str, why: dict[str, str]
) -> None:
    run = fail(fallback(other), tool)
    assert (run.status, run.result) == (Status.FAILED, None)
    error = run.error or {}
    assert error["code"] == ("INVALID_OUTPUT" if tool == "fx_badout" else "EXECUTION_FAILED")
    recovery = error["details"]["recovery"]
    assert recovery["tool"] == other
    assert why.items() <= recovery.items()
    refused = Event.objects.filter(kind="run.refused").count()
    assert refused == ("refused" in why)
    assert invariants_check().faults == {}


def test_a_fallback_can_have_one_and_a_circle_ends(fail: Fail, declare: Declare) -> None:
    declare("fx_exit", recovery=fallback("fx_context"))
    run = fail(fallback("fx_exit"), "fx_boom")
    assert (run.status, [one.tool for one in Run.objects.order_by("depth")]) == (
        Status.COMPLETED,
        ["fx_boom", "fx_exit", "fx_context"],
    )
    declare("fx_exit", recovery=fallback("fx_boom"))  # as no publishing would let through
    run = fail(fallback("fx_exit"), "fx_boom")
    assert run.status == Status.FAILED
    assert max(Run.objects.filter(root=run.pk).values_list("depth", flat=True)) == 8


def test_effects_follow_the_outcome_whoever_brought_it(fail: Fail) -> None:
    effects = [memory("k", expression="result.tool"), memory("lost", value=1, on="failure")]
    fail(fallback("fx_context"), "fx_boom", contract={"effects": effects})
    assert remembered() == {"short-term k": "fx_context"}
    run = fail(fallback("fx_exit"), "fx_boom")
    assert run.status == Status.FAILED
    assert remembered() == {"short-term k": "fx_context", "short-term lost": 1}


def test_a_cancel_reaches_the_fallback(call: Callable[..., Any], declare: Declare, admin: User) -> None:
    declare("fx_boom", recovery=fallback("fx_context"))
    call("fx_boom", {}, HTTP_PREFER="respond-async")
    begun = begin_next("default")
    assert begun
    assert begun.lease
    assert run_carry_out(begun.lease)
    run, child = Run.objects.order_by("depth")
    assert (run.status, child.status) == (Status.WAITING_STEPS, Status.PENDING)
    assert run_cancel(by=actor_of(admin), run=run) is True
    work()
    assert {now_of(one).status for one in (run, child)} == {Status.CANCELLED}
    assert Event.objects.filter(kind="run.outcome").count() == 2


def test_no_release_closes_a_circle_of_fallbacks(declare: Declare) -> None:
    declare("fx_exit", recovery=fallback("fx_boom"))
    version: ToolVersion = declare("fx_boom", recovery=fallback("fx_exit"))
    with pytest.raises(InvalidRequest, match="fx_boom → fx_exit → fx_boom") as refusal:
        release_activate_tools(version.tool.package, version.release)
    assert refusal.value.code == "INVALID_MANIFEST"
