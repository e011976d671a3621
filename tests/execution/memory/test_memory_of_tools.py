"""What tools remember: the keys that the contract names, changed when the tool succeeds, with the outcome."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from execution.engine.begin import begin_next
from execution.engine.changes import ABSENT, UnfitChange, changes_read
from execution.engine.finish import run_finish
from execution.engine.outcomes import success
from execution.engine.perform import queue_work, run_carry_out
from execution.engine.places import Place
from execution.memory.models import Item, Space
from execution.memory.store import memory_read
from execution.models import Run, RunEvent, Status
from registry.models import Package
from security.models import Persona
from tests.execution.fixtures import is_postgres

pytestmark = pytest.mark.django_db
Call = Callable[..., Any]


def body(session: str = "s", loop: str = "l", **arguments: Any) -> dict[str, Any]:
    return {"arguments": arguments, "context": {"session_id": session, "loop_id": loop}}


@pytest.mark.parametrize("way", ["inline", "worker"])
def test_a_tool_reads_what_another_run_of_the_session_wrote(call: Call, fx: Package, way: str) -> None:
    def do(given: dict[str, Any]) -> Any:
        if way == "inline":
            return call("fx_remember", body=given).json()["data"]
        call("fx_remember", body=given, HTTP_PREFER="respond-async")
        Run.objects.filter(status=Status.PENDING).update(due_at=Now() - timedelta(seconds=1))
        queue_work("default")
        return Run.objects.latest("id").result

    written = [["working", "k", 1], ["short-term", "k", {"a": [None]}], ["long-term", "k", "é"]]
    assert do(body(write=written))["working"] == 1
    assert do(body()) == {"working": 1, "short-term": {"a": [None]}, "long-term": "é"}
    other_loop = {"working": "nothing", "short-term": {"a": [None]}, "long-term": "é"}
    assert do(body(loop="m")) == other_loop
    assert do(body(session="t")) == {"working": "nothing", "short-term": "nothing", "long-term": "é"}
    deleted = do(body(delete=[["working", "k"], ["long-term", "k"]]))
    assert (
        deleted == do(body()) == {"working": "nothing", "short-term": {"a": [None]}, "long-term": "nothing"}
    )


def test_a_tool_that_fails_changes_nothing(call: Call, fx: Package) -> None:
    answer = call("fx_remember", body=body(write=[["working", "k", 1]], fail=True)).json()
    assert answer["error"]["code"] == "FX_REFUSED"
    assert Item.objects.count() == 0
    assert not RunEvent.objects.filter(kind__startswith="EFFECT").exists()


def test_a_key_that_the_contract_does_not_name_is_a_mistake_of_the_tool(call: Call, fx: Package) -> None:
    for scope, key in (("working", "other"), ("short-term", "list.a"), ("nowhere", "k")):
        answer = call("fx_remember", body=body(write=[[scope, key, 1]])).json()
        assert (answer["success"], answer["error"]["code"]) == (False, "EXECUTION_FAILED")
    assert call("fx_remember", body=body(write=[["working", "list.a", 1]])).json()["success"] is True
    assert Item.objects.get().key == "list.a"


def test_changes_and_outcome_are_there_together_and_told(call: Call, fx: Package, persona: Persona) -> None:
    answer = call("fx_remember", body=body(write=[["working", "k", 1]])).json()
    run = Run.objects.get()
    assert answer["metadata"]["status"] == run.status == "completed"
    kinds = list(run.events.values_list("kind", flat=True))
    assert kinds[-2:] == ["EFFECT_APPLIED", "TOOL_CALL_COMPLETED"]
    assert [event.seq for event in run.events.all()] == list(range(1, run.events_count + 1))
    assert memory_read(Place(persona.pk, "s", "l"), "working", "k") == 1


def test_what_does_not_fit_in_memory_fails_the_run_and_keeps_the_result(
    call: Call, fx: Package, settings: Any
) -> None:
    settings.MEMORY_KEYS_MAX = 1
    call("fx_remember", body=body(write=[["working", "k", 1]]))
    answer = call("fx_remember", body=body(write=[["working", "k", 2], ["working", "list.a", 1]])).json()
    assert (answer["success"], answer["error"]["code"]) == (False, "EFFECT_FAILED")
    details = answer["error"]["details"]
    assert details["data"] == {"working": 2, "short-term": "nothing", "long-term": "nothing"}
    assert "holds 1 keys" in details["reason"]
    assert (Item.objects.get().value, Space.objects.get().keys) == (1, 1)
    assert Run.objects.latest("id").events.filter(kind="EFFECT_FAILED").exists()


def test_a_late_result_changes_nothing(call: Call, fx: Package, persona: Persona) -> None:
    call("fx_remember", body=body(write=[["working", "k", 1]]), HTTP_PREFER="respond-async")
    Run.objects.update(due_at=Now() - timedelta(seconds=1))
    begun = begin_next("default")
    assert begun
    assert begun.lease
    Run.objects.update(lease_token="01900000-0000-7000-8000-000000000000")
    assert run_carry_out(begun.lease) is False
    assert memory_read(Place(persona.pk, "s", "l"), "working", "k") is ABSENT


def test_a_tool_without_memory_goes_the_short_way(call: Call, fx: Package, monkeypatch: Any) -> None:
    """It pays nothing: no row waits, and no statement more is made."""
    call("fx_echo", {"value": 1})
    assert Run.objects.get().is_brief
    call("fx_echo", {"value": 1}, HTTP_PREFER="respond-async")
    Run.objects.filter(status=Status.PENDING).update(due_at=Now() - timedelta(seconds=1))
    begun = begin_next("default")
    assert begun
    assert begun.lease
    if is_postgres():
        monkeypatch.setattr("execution.engine.finish._finish_leased", None)
    at = begun.lease.run.created_at
    assert run_finish(begun.lease, success(1, started_at=at, ended_at=at, duration_ms=1.0))


BAD = [
    None,
    {},
    [None],
    [{"scope": "working"}],
    [{"scope": "working", "key": "other", "value": 1}],
    [{"scope": ["working"], "key": "k"}],
    [{"scope": "working", "key": "list." + "x" * 200}],
    [{"scope": "working", "key": "list.\n"}],
    [{"scope": "working", "key": "k"}] * 1001,
]


@pytest.mark.parametrize("said", BAD)
def test_a_program_in_a_sandbox_that_asks_for_more_than_it_may_is_not_believed(said: Any) -> None:
    with pytest.raises(UnfitChange):
        changes_read(said, {"working": ["k", "list.*"]})
