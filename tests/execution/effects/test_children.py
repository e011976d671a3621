"""Cascades and compensations: runs that follow from a run, checked as any call, bounded in depth and number."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import Client

from audit.models import Event
from core.errors import Overloaded
from execution.engine.features import LIFE
from execution.engine.invariants import invariants_check
from execution.engine.perform import queue_work
from execution.engine.submit import run_cancel
from execution.features.effects import feature, kinds
from execution.features.effects.steps import Effects
from execution.models import Run, Status
from registry.models import Package
from registry.services import assignment_delete
from security.models import Persona, Token, User
from security.permissions import actor_of
from security.policy.limits import limit_create, limit_delete
from security.policy.models import Limit, Usage
from security.services import token_revoke
from tests.execution.effects.conftest import (
    Perform,
    cascade,
    memory,
    notice,
    notices,
    remembered,
    state,
    told,
)
from tests.execution.fixtures import Declare

pytestmark = pytest.mark.django_db


def work() -> None:
    Run.objects.filter(status=Status.PENDING).update(due_at=Now() - timedelta(seconds=1))
    queue_work("default")


def child() -> Run:
    return Run.objects.get(parent__isnull=False)


def test_a_cascade_is_a_child_run_with_mapped_arguments(
    perform: Perform, client: Client, token_text: str
) -> None:
    wanted = cascade(
        "fx_wrap", condition="result.size > 1", arguments={"value": "result.names + [arguments.value.size]"}
    )
    answer = perform(wanted, value={"size": 2, "names": ["a"]}, context={"session_id": "s", "task_id": "t"})
    one = child()
    assert (one.status, one.arguments, one.depth) == (Status.PENDING, {"value": ["a", 2]}, 1)
    assert (str(one.parent_id), one.root) == (answer["metadata"]["run_id"], one.parent_id)
    assert (one.session, one.request["context"]["task_id"]) == ("s", "t")
    work()
    headers = {"HTTP_AUTHORIZATION": f"Bearer {token_text}"}
    read = client.get(f"/api/v1/runs/{one.pk}", **headers).json()  # type: ignore[arg-type]
    assert read["data"] == {"value": ["a", 2], "length": 2}
    assert read["metadata"]["parent_run_id"] == answer["metadata"]["run_id"]
    parent = client.get(f"/api/v1/runs/{one.parent_id}", **headers).json()  # type: ignore[arg-type]
    assert parent["children"] == [{"run_id": str(one.pk), "tool": "fx_wrap", "status": "completed"}]
    assert parent["metadata"]["parent_run_id"] is None
    applied = Run.objects.get(pk=one.parent_id).events.get(kind="EFFECT_APPLIED").data
    assert (applied["tool"], applied["run"]) == ("fx_wrap", str(one.pk))
    assert invariants_check().faults == {}


def test_a_child_is_held_as_strictly_as_its_parent(perform: Perform) -> None:
    perform(cascade("fx_wrap", arguments={"value": "'x'"}), isolation_level="basic")
    assert child().request["isolation_level"] == "basic"


def test_a_cascade_whose_condition_does_not_hold_calls_nobody(perform: Perform) -> None:
    assert perform(cascade("fx_wrap", condition="result > 1"), value=1)["success"] is True
    assert Run.objects.count() == 1
    assert told() == []


REFUSED: list[tuple[dict[str, Any], str]] = [
    (cascade("nothing"), "No tool named"),
    (cascade("fx_wrap", arguments={"wrong": "1"}), "do not fit"),
    (cascade("fx_wrap", condition="result.missing"), "The condition failed"),
    (cascade("fx_wrap", condition="1"), "neither true nor false"),
    (cascade("fx_wrap", arguments={"value": "1 / 0"}), "ZeroDivisionError"),
    (cascade("fx_capable"), "file:read:tmp"),
]


@pytest.mark.parametrize(("bad", "why"), REFUSED)
def test_a_cascade_that_may_not_be_fails_the_effect(perform: Perform, bad: dict[str, Any], why: str) -> None:
    answer = perform(state("a", value=1), cascade("fx_echo", arguments={"value": "1"}), bad)
    assert answer["error"]["code"] == "EFFECT_FAILED"
    assert why in answer["error"]["details"]["reason"]
    assert remembered() == {}
    assert Run.objects.count() == 1
    assert told()[-2:] == [("TAKEN_BACK", 2), ("TAKEN_BACK", 1)]


def test_a_refused_cascade_stands_in_the_ledger(perform: Perform) -> None:
    perform(cascade("fx_capable"))
    entry = Event.objects.get(kind="run.refused")
    assert '"CAPABILITY_MISSING"' in entry.canonical


def test_a_tool_that_is_not_assigned_any_more_is_not_called(
    perform: Perform, fx: Package, admin: User, declare: Declare
) -> None:
    perform(cascade("fx_wrap", arguments={"value": "'x'"}))
    assignment = fx.assignments.get()
    assignment_delete(by=assignment.assigned_by, assignment=assignment)
    work()
    one = child()
    assert (one.status, (one.error or {})["code"]) == (Status.FAILED, "PERMISSION_DENIED")


def test_a_token_that_was_revoked_while_the_tool_ran_calls_nobody(
    call: Callable[..., Any], declare: Declare, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare("fx_echo", effects=[cascade("fx_wrap", arguments={"value": "'x'"})])
    call("fx_echo", {"value": 1}, HTTP_PREFER="respond-async")

    def then_revoked(of: Any) -> Any:
        token_revoke(by=admin, token=Token.objects.get())
        return carry_out(of)

    carry_out = LIFE.call_run
    monkeypatch.setattr(LIFE, "call_run", then_revoked)
    work()
    run = Run.objects.get()
    assert ((run.error or {})["code"], "revoked" in str(run.error)) == ("EFFECT_FAILED", True)


def test_a_tool_that_calls_itself_ends_at_the_depth(perform: Perform) -> None:
    perform(state("n", "increment"), cascade("fx_echo", arguments={"value": "arguments.value"}), value=1)
    work()
    depths = list(Run.objects.order_by("depth").values_list("depth", "status"))
    assert depths == [(n, "completed") for n in range(8)] + [(8, "failed")]
    last = Run.objects.get(depth=8)
    assert "8 deep" in (last.error or {})["details"]["reason"]
    assert last.root == Run.objects.get(depth=0).pk
    assert remembered() == {"working n": 8}
    assert invariants_check().faults == {}


def test_so_many_runs_follow_from_one(perform: Perform, settings: Any) -> None:
    settings.CASCADE_RUNS_MAX = 5
    twice = cascade("fx_echo", arguments={"value": "1"}, on="always")
    perform(twice, twice, value=1)
    work()
    assert Run.objects.exclude(root=None).count() <= 6
    assert Run.objects.filter(status=Status.FAILED).exists()
    assert not Run.objects.filter(status=Status.PENDING).exists()


UNDO = {"tool": "fx_wrap", "arguments": {"value": "[current, arguments.value, result]"}}


def test_an_effect_that_is_taken_back_calls_the_tool_that_undoes_it(perform: Perform) -> None:
    perform(state("url", value="before"))
    perform(
        state("url", value="after", rollback=UNDO),
        memory("k", value=1, rollback={"tool": "fx_wrap", "arguments": {"value": "'undo k'"}}),
        memory("x", expression="result.missing"),
        value={"v": 1},
    )
    assert remembered() == {"working url": "before"}
    rows = list(Run.objects.exclude(parent=None).order_by("created_at").values_list("tool", "arguments"))
    assert rows == [
        ("fx_wrap", {"value": "undo k"}),
        ("fx_wrap", {"value": ["before", {"v": 1}, {"v": 1}]}),
    ]
    parent = Run.objects.filter(parent=None).latest("created_at")
    assert told(parent)[-2:] == [("COMPENSATED", 2), ("COMPENSATED", 1)]
    work()
    assert set(Run.objects.exclude(parent=None).values_list("status", flat=True)) == {"completed"}


def test_what_undoes_an_effect_sees_the_value_that_memory_has_without_it(perform: Perform) -> None:
    undo = {"tool": "fx_wrap", "arguments": {"value": "current"}}
    perform(
        state("n", "increment", reversible=False),
        state("n", "increment", value=10, rollback=undo),
        state("n", "increment", value=100, reversible=False),
        state("n", "increment", value=1000, rollback=undo),
        memory("x", expression="result.missing"),
    )
    assert remembered() == {"working n": 101}
    undone = Run.objects.exclude(parent=None).order_by("created_at").values_list("arguments", flat=True)
    assert list(undone) == [{"value": 101}, {"value": 1}], "the last first"


def test_a_call_that_stays_is_asked_for_once(perform: Perform, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, check = [], kinds.child_check

    def counted(run: Run, tool: str, arguments: Any) -> Any:
        asked.append(tool)
        return check(run, tool, arguments)

    monkeypatch.setattr(kinds, "child_check", counted)
    perform(
        state("n", "increment"),
        cascade("fx_wrap", arguments={"value": "1"}, reversible=False),
        memory("x", expression="result.missing"),
    )
    assert asked == ["fx_wrap"]
    assert child().tool == "fx_wrap"


def test_a_cascade_that_was_taken_back_leaves_nothing_to_undo(perform: Perform) -> None:
    # Manifests of before could have one; it is not published any more.
    undo = {"tool": "fx_wrap", "arguments": {"value": "'undo'"}}
    perform(
        cascade("fx_echo", arguments={"value": "1"}, rollback=undo), memory("x", expression="result.missing")
    )
    assert Run.objects.filter(parent=None).count() == Run.objects.count() == 1
    assert told() == [("FAILED", 2), ("TAKEN_BACK", 1)]


@pytest.mark.django_db(transaction=True)
def test_a_limit_that_is_taken_away_while_a_cancel_has_effects_is_decided_anew(
    call: Callable[..., Any], declare: Declare, admin: User, persona: Persona, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = cascade("fx_wrap", on="always", arguments={"value": "1"})
    declare("fx_boom", recovery={"type": "manual"}, effects=[once])
    made = call("fx_boom", {}).json()["metadata"]
    assert made["status"] == "awaiting_person"
    limit = limit_create(
        by=admin, kind="quota", measure="calls", amount=2, window_s=86_400, persona=persona, tool="fx_wrap"
    )
    plan_make = feature.effects_plan

    def gone(*args: Any) -> Effects:
        plan = plan_make(*args)
        if Limit.objects.exists():
            limit_delete(by=admin, limit=limit)
        return plan

    monkeypatch.setattr(feature, "effects_plan", gone)
    run = Run.objects.get(pk=made["run_id"])
    assert run_cancel(by=actor_of(admin), run=run) is True
    assert (child().status, Usage.objects.count()) == (Status.PENDING, 0)
    assert told(run) == [("APPLIED", 1)]


def test_a_compensation_that_fails_is_told_and_the_rest_goes_on(perform: Perform) -> None:
    perform(
        memory("a", value=1, rollback={"tool": "fx_echo", "arguments": {"value": "1"}}),
        memory("b", value=1, rollback={"tool": "nothing"}),
        memory("c", value=1, rollback={"tool": "fx_echo", "arguments": {"value": "1 / 0"}}),
        notice("kept"),
        memory("x", expression="result.missing"),
    )
    run = Run.objects.get(parent=None)
    rows = [event.data for event in run.events.filter(kind="EFFECT_COMPENSATED").order_by("seq")]
    assert [(row["effect"], "failed" in row) for row in rows] == [(3, True), (2, True), (1, False)]
    assert Run.objects.exclude(parent=None).count() == 1
    assert remembered() == {}
    assert notices() == [("kept", None)]


def test_a_full_queue_takes_all_back(perform: Perform, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_accepted: Any) -> Run:
        raise Overloaded("10 runs wait already.")

    monkeypatch.setattr(feature, "child_submit", full)
    answer = perform(state("a", value=1), cascade("fx_wrap", arguments={"value": "'x'"}))
    assert answer["error"]["details"]["reason"] == "10 runs wait already."
    assert remembered() == {}
    assert Run.objects.count() == 1


def test_a_cascade_to_a_tool_that_wants_approval_waits_for_it(perform: Perform, declare: Declare) -> None:
    declare("fx_wrap", requiresApproval=True)
    assert perform(cascade("fx_wrap", arguments={"value": "'x'"}))["success"] is True
    one = child()
    assert (one.status, one.depth, one.arguments) == (Status.AWAITING_APPROVAL, 1, {"value": "x"})
    assert invariants_check().faults == {}


def test_a_cascade_counts_against_quotas_and_a_refused_one_is_not_counted(
    perform: Perform, admin: User, persona: Persona
) -> None:
    limit_create(
        by=admin, kind="quota", measure="calls", amount=2, window_s=86_400, persona=persona, tool="fx_wrap"
    )
    once = cascade("fx_wrap", arguments={"value": "'x'"})
    assert perform(once)["success"] is True
    # The second of these two is one too many: only counting can tell, in the transaction.
    answer = perform(state("a", value=1), once, once)
    assert answer["error"]["code"] == "EFFECT_FAILED"
    assert "used up" in answer["error"]["details"]["reason"]
    assert remembered() == {}
    assert Run.objects.exclude(parent=None).count() == 1
    assert Usage.objects.get().used == 1
    assert '"QUOTA_EXCEEDED"' in Event.objects.get(kind="run.refused").canonical
    assert perform(once)["success"] is True
