"""The process dies just before or after each commit on a run's way; one outcome comes of it all the same."""

from pathlib import Path

import pytest

from chaos.verdict import executions_of
from execution.models import Run, Status
from execution.runs.invariants import invariants_check
from execution.runs.requests import CallRequest
from execution.runs.services import Manner, run_submit
from security.models import Token, User
from security.services import token_revoke
from security.tokens import principal_find
from tests.faults.conftest import Execute
from tests.processes import Processes, wait_for

pytestmark = [pytest.mark.faults]


def armed(tmp_path: Path, place: str) -> tuple[dict[str, str], Path]:
    """The environment of a process that dies once at a place, and the file that is gone afterwards."""
    file = tmp_path / "armed"
    file.touch()
    return {"TOOLHUB_FAILPOINT": f"{place}@{file}"}, file


def submitted(token: str, tool: str, file: Path, **more: float) -> Run:
    """A run that waits for a worker, accepted by this process."""
    found = principal_find(token)
    assert found
    request = CallRequest(arguments={"file": str(file), **more})
    return run_submit(principal=found[0], name=tool, request=request, manner=Manner(0, detached=True))


# place, tool, the run's end, how often the world saw it
WORKER = [
    ("start.before", "world_once", Status.COMPLETED, 1),
    ("start.after", "world_once", Status.OUTCOME_UNKNOWN, 0),
    ("start.after", "world_again", Status.COMPLETED, 1),
    ("finish.before", "world_once", Status.OUTCOME_UNKNOWN, 1),
    ("finish.before", "world_again", Status.COMPLETED, 2),
    ("finish.after", "world_once", Status.COMPLETED, 1),
]


@pytest.mark.parametrize(("place", "tool", "end", "seen"), WORKER)
def test_a_worker_that_dies_leaves_one_outcome(
    hub: Processes, world_token: str, tmp_path: Path, place: str, tool: str, end: Status, seen: int
) -> None:
    env, file = armed(tmp_path, place)
    trace = tmp_path / "trace"
    run = submitted(world_token, tool, trace)
    hub.worker(**env)
    hub.steward()
    wait_for(lambda: not file.exists(), 60)
    wait_for(lambda: Run.objects.filter(pk=run.pk, status=end).exists(), 60)
    assert executions_of(trace)[str(run.pk)] == seen
    assert invariants_check().faults == {}


# A run whose right was lost: it is claimed by itself, and ended without a start.
@pytest.mark.parametrize("place", ["claim.before", "claim.after", "finish.before", "finish.after"])
def test_a_worker_that_dies_over_a_run_that_may_not_start_leaves_one_outcome(
    hub: Processes, world_token: str, tmp_path: Path, place: str
) -> None:
    env, file = armed(tmp_path, place)
    trace = tmp_path / "trace"
    run = submitted(world_token, "world_once", trace)
    token_revoke(by=User.objects.get(), token=Token.objects.get())
    hub.worker(**env)
    hub.steward()
    wait_for(lambda: not file.exists(), 60)
    wait_for(lambda: Run.objects.filter(pk=run.pk, status=Status.FAILED).exists(), 60)
    row = Run.objects.get(pk=run.pk)
    assert ((row.error or {})["code"], row.started_at) == ("PERMISSION_DENIED", None)
    assert not executions_of(trace)
    assert invariants_check().faults == {}


@pytest.mark.parametrize("place", ["reap.before", "reap.after"])
def test_a_steward_that_dies_while_it_reaps_takes_nothing_with_it(
    hub: Processes, world_token: str, tmp_path: Path, place: str
) -> None:
    folder = tmp_path / "worker"
    folder.mkdir()
    killed, killed_file = armed(folder, "start.after")
    trace = tmp_path / "trace"
    run = submitted(world_token, "world_again", trace)
    hub.worker(**killed)
    wait_for(lambda: not killed_file.exists(), 60)
    env, file = armed(tmp_path, place)
    dying = hub.steward(**env)
    wait_for(lambda: not file.exists(), 60)
    dying.wait(10)
    hub.steward()
    wait_for(lambda: Run.objects.filter(pk=run.pk, status=Status.COMPLETED).exists(), 60)
    assert executions_of(trace)[str(run.pk)] == 1
    assert invariants_check().faults == {}


def test_a_web_process_that_dies_before_accepting_leaves_nothing(
    hub: Processes, execute: Execute, tmp_path: Path
) -> None:
    before = [
        ("accept.before", "world_once"),
        ("start.before", "world_quick"),
        ("short.before", "world_pure"),
    ]
    for number, (place, tool) in enumerate(before):
        folder = tmp_path / str(number)
        folder.mkdir()
        env, file = armed(folder, place)
        _, address = hub.web(**env)
        assert execute(address, tool, {"file": str(tmp_path / "trace")}) is None
        assert not file.exists()
    assert Run.objects.count() == 0
    assert not executions_of(tmp_path / "trace")


@pytest.mark.parametrize("place", ["accept.after", "ring.before"])
def test_what_was_accepted_is_carried_out_though_nobody_rang(
    hub: Processes, execute: Execute, tmp_path: Path, place: str
) -> None:
    env, file = armed(tmp_path, place)
    trace = tmp_path / "trace"
    _, address = hub.web(**env)
    assert execute(address, "world_once", {"file": str(trace)}, Prefer="respond-async") is None
    assert not file.exists()
    hub.worker()
    hub.steward()
    run = Run.objects.get()
    wait_for(lambda: Run.objects.filter(pk=run.pk, status=Status.COMPLETED).exists(), 60)
    assert executions_of(trace) == {str(run.pk): 1}
    assert invariants_check().faults == {}


def test_a_call_whose_answer_was_lost_gives_the_same_run_again(
    hub: Processes, execute: Execute, tmp_path: Path
) -> None:
    env, file = armed(tmp_path, "short.after")
    _, address = hub.web(**env)
    assert execute(address, "world_pure", {"file": "a"}, Idempotency_Key="once") is None
    assert not file.exists()
    again = wait_for(lambda: execute(address, "world_pure", {"file": "a"}, Idempotency_Key="once"), 30)
    assert again["data"] == "a"
    assert Run.objects.count() == 1
    assert invariants_check().faults == {}


# An inline run that is not pure: the web process accepts and starts it by one commit, and finishes it by another.
INLINE = [
    ("start.after", Status.OUTCOME_UNKNOWN, 0),
    ("finish.before", Status.OUTCOME_UNKNOWN, 1),
    ("finish.after", Status.COMPLETED, 1),
]


@pytest.mark.parametrize(("place", "end", "seen"), INLINE)
def test_a_web_process_that_dies_in_an_inline_run_leaves_one_outcome(
    hub: Processes, execute: Execute, tmp_path: Path, place: str, end: Status, seen: int
) -> None:
    env, file = armed(tmp_path, place)
    trace = tmp_path / "trace"
    _, address = hub.web(**env)
    assert execute(address, "world_quick", {"file": str(trace)}) is None
    assert not file.exists()
    hub.worker()
    hub.steward()
    run = Run.objects.get()
    wait_for(lambda: Run.objects.filter(pk=run.pk, status=end).exists(), 60)
    assert executions_of(trace)[str(run.pk)] == seen
    assert invariants_check().faults == {}
