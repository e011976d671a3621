"""Runs that workers carry out, and what becomes of them when workers and bells are lost (faults 1 to 4, 13)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from audit.models import Event
from execution.engine import waiters
from execution.engine.bells import ring
from execution.models import Attempt, Run, Status
from registry.models import Package
from tests.processes import Processes, wait_for
from tests.workers.conftest import Began, queues_purge

pytestmark = [pytest.mark.broker, pytest.mark.timeout(180)]
Call = Callable[..., Any]
MakeBegan = Callable[[str], Began]


@pytest.fixture
def outcome(client: Client, token_text: str) -> Callable[[str], Any]:
    """Waits for a run's outcome as a caller would."""

    def do(run_id: str) -> Any:
        answer = client.get(
            f"/api/v1/runs/{run_id}?wait=90", HTTP_AUTHORIZATION=f"Bearer {token_text}"
        ).json()
        assert answer["success"] is not None, answer
        return answer

    return do


def accept(call: Call, tool: str, arguments: Any, **members: Any) -> str:
    response = call(tool, body={"arguments": arguments, **members}, HTTP_PREFER="respond-async")
    assert response.status_code == 202
    run_id: str = response.json()["metadata"]["run_id"]
    return run_id


def one_outcome_each(count: int) -> None:
    """As many outcomes as accepted runs, none twice."""
    accepted = list(Event.objects.filter(kind="run.accepted").values_list("run_id", flat=True))
    ended = list(Event.objects.filter(kind="run.outcome").values_list("run_id", flat=True))
    assert len(accepted) == count
    assert len(set(ended)) == len(ended)


def test_the_bell_alone_brings_a_run_to_a_worker_and_its_finish_wakes_the_caller(
    worker: None, fx: Package, call: Call, outcome: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No steward runs. That callers look for themselves now and then is switched off: only the wake-up counts."""
    monkeypatch.setattr(waiters, "LOOK_S", 100.0)
    answer = outcome(accept(call, "fx_echo", {"value": [1]}))
    assert (answer["success"], answer["data"]) == (True, [1])
    world = tmp_path / "world"
    response = call("fx_count", {"file": str(world), "seconds": 0.3}, HTTP_PREFER="wait=60")
    assert (response.status_code, response.json()["data"]) == (200, {"attempt": 1})
    run = Run.objects.latest("id")
    assert (run.inline, run.status) == (False, Status.COMPLETED)
    assert Attempt.objects.get(run=run).worker != "web"
    one_outcome_each(2)


def test_a_tool_that_takes_too_long_in_a_worker_is_a_timeout_in_time(
    worker: None, fx: Package, call: Call, outcome: Any
) -> None:
    answer = outcome(accept(call, "fx_sleep", {"seconds": 60}, limits={"timeoutMs": 500}))
    assert (answer["error"]["code"], answer["metadata"]["status"]) == ("TIMEOUT", "timeout")
    assert 500 <= answer["metadata"]["duration_ms"] < 2000


def test_a_run_that_works_is_cancelled_by_its_caller(
    worker: None, fx: Package, call: Call, outcome: Any, began: MakeBegan, client: Client, token_text: str
) -> None:
    fifo = began("fifo")
    run_id = accept(call, "fx_slow", {"fifo": fifo.path, "seconds": 60})
    fifo.wait()
    response = client.post(f"/api/v1/runs/{run_id}/cancel", HTTP_AUTHORIZATION=f"Bearer {token_text}")
    assert response.json() == {"cancelled": True}
    answer = outcome(run_id)
    assert (answer["metadata"]["status"], answer["error"]["code"]) == ("cancelled", "CANCELLED")
    assert client.post(f"/api/v1/runs/{run_id}/cancel", HTTP_AUTHORIZATION=f"Bearer {token_text}").json() == {
        "cancelled": False
    }


def test_the_same_bell_many_times_is_one_execution(
    hub: Processes, fx: Package, call: Call, outcome: Any, tmp_path: Path
) -> None:
    world = tmp_path / "world"
    run_id = accept(call, "fx_count", {"file": str(world), "seconds": 0.3})
    for _ in range(5):
        assert ring("default")
    hub.worker(concurrency=2)
    assert outcome(run_id)["data"] == {"attempt": 1}
    # what comes after all those bells is carried out as well
    assert outcome(accept(call, "fx_echo", {"value": 2}))["data"] == 2
    assert world.read_text() == f"{run_id} 1\n"
    one_outcome_each(2)


def test_a_bell_is_one_message_in_its_own_queue(
    hub: Processes, fx: Package, call: Call, outcome: Any
) -> None:
    """A worker has bound its queues; after that, a bell for one must not ring in the others."""
    worker = hub.worker()
    outcome(accept(call, "fx_echo", {"value": 1}))
    hub.kill(worker)
    queues_purge()
    assert ring("default")
    assert ring("sandbox")
    assert queues_purge() == {"default": 1, "sandbox": 1}


def test_a_broker_that_was_emptied_costs_time_only(
    hub: Processes, fx: Package, call: Call, outcome: Any
) -> None:
    runs = [accept(call, "fx_echo", {"value": number}) for number in range(5)]
    assert queues_purge()
    hub.worker()
    hub.steward()
    assert [outcome(run_id)["data"] for run_id in runs] == [0, 1, 2, 3, 4]
    one_outcome_each(5)


def test_runs_of_a_worker_that_was_killed_are_recovered_by_what_they_may_have_done(
    hub: Processes, fx: Package, call: Call, outcome: Any, began: MakeBegan, tmp_path: Path
) -> None:
    """kill -9 of the whole process group in mid-run: pure work is done again, an effect never."""
    world = tmp_path / "world"
    first, second = began("pure"), began("impure")
    victim = hub.worker(concurrency=2)
    pure = accept(call, "fx_slow", {"fifo": first.path, "seconds": 1})
    impure = accept(call, "fx_count", {"file": str(world), "fifo": second.path, "seconds": 60})
    assert first.wait() == (pure, 1)
    assert second.wait() == (impure, 1)
    hub.kill(victim)
    hub.worker()
    hub.steward()
    assert first.wait() == (pure, 2)
    assert outcome(pure)["data"] == {"attempt": 2}
    wait_for(lambda: Run.objects.filter(pk=impure, status=Status.OUTCOME_UNKNOWN).exists(), 60)
    assert world.read_text() == f"{impure} 1\n"
    lost = Attempt.objects.get(run_id=pure, number=1)
    assert (lost.status, lost.finished_at is None) == ("lost", False)
    one_outcome_each(2)


def test_a_tool_that_kills_its_worker_each_time_ends_failed_and_harms_no_other(
    hub: Processes, fx: Package, call: Call, outcome: Any
) -> None:
    hub.worker()
    hub.steward()
    crash = accept(call, "fx_crash", {})
    other = accept(call, "fx_echo", {"value": 1})
    assert outcome(other)["data"] == 1
    answer = outcome(crash)
    assert (answer["metadata"]["status"], answer["error"]["code"]) == ("failed", "WORKER_LOST")
    assert list(Attempt.objects.filter(run_id=crash).values_list("status", flat=True)) == ["lost"] * 3
    one_outcome_each(2)
