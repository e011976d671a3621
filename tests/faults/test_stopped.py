"""A worker sleeps beyond its lease and goes on (faults 10); cancels that no worker heard (faults 13)."""

from pathlib import Path
from signal import SIGCONT, SIGSTOP

import pytest

from chaos.processes import Process
from chaos.verdict import executions_of
from core.actors import SYSTEM
from execution.engine.invariants import invariants_check
from execution.engine.submit import run_cancel
from execution.models import Run, RunEvent, Status
from execution.run_events import LATE_RESULT
from tests.faults.conftest import submitted
from tests.processes import Processes, wait_for

pytestmark = [pytest.mark.faults]


def begun(hub: Processes, token: str, tool: str, trace: Path, seconds: float) -> tuple[Run, Process]:
    """A run whose tool has acted on the world and goes on working, and its worker."""
    run = submitted(token, tool, trace, seconds=seconds)
    worker = hub.worker()
    wait_for(lambda: executions_of(trace)[str(run.pk)] == 1, 60)
    return run, worker


def ended(run: Run, status: Status) -> None:
    wait_for(lambda: Run.objects.filter(pk=run.pk, status=status).exists(), 60)


def test_the_late_finish_of_a_repeated_run_is_an_event_and_not_the_outcome(
    hub: Processes, world_token: str, tmp_path: Path
) -> None:
    run, sleeper = begun(hub, world_token, "world_again", tmp_path / "trace", 2)
    hub.signal(sleeper, SIGSTOP)
    hub.steward()
    hub.worker()
    wait_for(lambda: executions_of(tmp_path / "trace")[str(run.pk)] == 2, 60)
    hub.signal(sleeper, SIGCONT)  # it finishes while another works on the same run
    late = wait_for(lambda: RunEvent.objects.filter(run=run, kind=LATE_RESULT).first(), 60)
    assert late.data == {"attempt": 1, "status": "completed"}
    ended(run, Status.COMPLETED)
    assert Run.objects.get(pk=run.pk).result == 2
    assert executions_of(tmp_path / "trace") == {str(run.pk): 2}
    assert invariants_check().faults == {}


def test_the_late_finish_of_a_run_that_is_not_repeated_tells_its_outcome(
    hub: Processes, world_token: str, tmp_path: Path
) -> None:
    run, sleeper = begun(hub, world_token, "world_once", tmp_path / "trace", 2)
    hub.signal(sleeper, SIGSTOP)
    hub.steward()
    ended(run, Status.OUTCOME_UNKNOWN)
    hub.signal(sleeper, SIGCONT)
    ended(run, Status.COMPLETED)
    assert executions_of(tmp_path / "trace") == {str(run.pk): 1}
    assert invariants_check().faults == {}


def test_a_cancel_outlasts_the_restart_of_all_workers(
    hub: Processes, world_token: str, tmp_path: Path
) -> None:
    working, worker = begun(hub, world_token, "world_think", tmp_path / "trace", 25)
    waiting = submitted(world_token, "world_think", tmp_path / "trace")
    hub.kill(worker)
    assert run_cancel(by=SYSTEM, run=working)
    assert run_cancel(by=SYSTEM, run=waiting)
    hub.worker()
    hub.steward()
    ended(working, Status.CANCELLED)
    ended(waiting, Status.CANCELLED)
    assert executions_of(tmp_path / "trace") == {str(working.pk): 1}
    assert invariants_check().faults == {}
