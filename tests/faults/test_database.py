"""The database is away, blocked or restarted, or its answer is lost (faults 6)."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection

from chaos.gate import Gate
from chaos.verdict import executions_of
from execution.engine.invariants import invariants_check
from execution.models import Run, RunEvent, Status
from execution.run_events import LATE_RESULT
from registry.models import ToolVersion
from tests.faults.conftest import Execute, declare, submitted
from tests.processes import Processes, database_url, running, wait_for

pytestmark = [pytest.mark.outages]
LEASE_S = 6


@pytest.fixture
def gate(transactional_db: None) -> Iterator[Gate]:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite is a file: there is no port to block and no server to restart")
    made = Gate(int(connection.settings_dict["PORT"] or 5432))
    yield made
    made.close()


@pytest.fixture
def hub(gate: Gate) -> Iterator[Processes]:
    """A hub that reaches its database through the gate."""
    yield from running(
        LEASE_S, DJANGO_SETTINGS_MODULE="chaos.settings", TOOLHUB_DATABASE_URL=database_url(gate.port)
    )


def sessions_end(gate: Gate) -> None:
    """Ends every session but ours, as a server does that is restarted, and waits until all have ended."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    wait_for(lambda: not gate.is_used)


def called(execute: Execute, address: str, tool: str, file: Path) -> None:
    assert (execute(address, tool, {"file": str(file)}) or {}).get("success") is True


def test_calls_right_after_a_restart_of_the_database_succeed(
    hub: Processes, execute: Execute, gate: Gate, tmp_path: Path
) -> None:
    _, address = hub.web(threads=8)
    trace = tmp_path / "trace"
    callers = [
        threading.Thread(target=called, args=(execute, address, "world_quick", trace)) for _ in range(8)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    for tool in ("world_pure", "world_quick"):
        sessions_end(gate)
        for _ in range(8):
            called(execute, address, tool, trace)
    assert Run.objects.filter(status=Status.COMPLETED).count() == 24
    assert invariants_check().faults == {}


def test_while_the_database_is_away_calls_are_refused_and_soon_after_they_succeed(
    hub: Processes, execute: Execute, gate: Gate, tmp_path: Path
) -> None:
    _, address = hub.web()
    # The last is known then, and what waits was counted: the next one is written at once.
    for tool in ("world_pure", "world_quick", "world_quick", "world_quick"):
        called(execute, address, tool, tmp_path / "trace")
    gate.cut()
    for tool in ("world_quick", "world_pure", "world_pure"):
        asked = time.monotonic()
        with pytest.raises(AssertionError, match=r"503: .*RECORD_UNAVAILABLE"):
            execute(address, tool, {"file": "a"})
        # As long as the pool waits for a connection, and not for the lease of a run that is none.
        assert time.monotonic() - asked < 15
    gate.mend()
    called(execute, address, "world_quick", tmp_path / "trace")
    assert Run.objects.count() == 5


def test_a_tool_stops_before_its_lease_ends_though_the_database_only_keeps_silent(
    hub: Processes, world_token: str, gate: Gate, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    run = submitted(world_token, "world_alive", trace)
    hub.worker()
    wait_for(lambda: executions_of(trace)[str(run.pk)] > 2, 60)
    gate.block()
    time.sleep(LEASE_S)
    seen = executions_of(trace)
    time.sleep(1)
    assert executions_of(trace) == seen
    gate.unblock()
    hub.steward()
    wait_for(lambda: Run.objects.filter(pk=run.pk, status=Status.OUTCOME_UNKNOWN).exists(), 60)


def test_an_outcome_whose_commit_was_answered_to_nobody_is_no_late_result(
    hub: Processes, world_token: str, gate: Gate, tmp_path: Path
) -> None:
    run = submitted(world_token, "world_once", tmp_path / "trace")
    gate.trap(b"COMMIT", after=b"run.outcome")
    hub.worker()
    assert gate.trapped.wait(60)
    other = submitted(world_token, "world_once", tmp_path / "trace")
    hub.steward()
    wait_for(lambda: Run.objects.filter(pk=other.pk, status=Status.COMPLETED).exists(), 60)
    assert Run.objects.get(pk=run.pk).status == Status.COMPLETED
    assert not RunEvent.objects.filter(kind=LATE_RESULT).exists()
    assert executions_of(tmp_path / "trace") == {str(run.pk): 1, str(other.pk): 1}
    assert invariants_check().faults == {}


def test_a_run_whose_beginning_was_answered_to_nobody_is_carried_out_once(
    hub: Processes, world_token: str, gate: Gate, tmp_path: Path
) -> None:
    run = submitted(world_token, "world_once", tmp_path / "trace")
    gate.trap(b"COMMIT", after=b"INSERT INTO execution_attempt")
    hub.worker()
    assert gate.trapped.wait(60)
    # Nobody else would carry it out: there is no steward.
    wait_for(lambda: Run.objects.filter(pk=run.pk, status=Status.COMPLETED).exists(), 60)
    assert executions_of(tmp_path / "trace") == {str(run.pk): 1}
    assert invariants_check().faults == {}


def test_a_run_that_was_begun_by_an_unanswered_end_of_another_is_carried_out_once(
    hub: Processes, world_token: str, gate: Gate, tmp_path: Path
) -> None:
    pure = submitted(world_token, "world_think", tmp_path / "trace", seconds=2)
    hub.worker()
    wait_for(lambda: Run.objects.filter(pk=pure.pk, status=Status.RUNNING).exists(), 60)
    gate.trap(b"COMMIT", after=b"run.outcome")
    next_one = submitted(world_token, "world_once", tmp_path / "trace")
    assert gate.trapped.wait(60)
    wait_for(lambda: Run.objects.filter(pk=next_one.pk, status=Status.COMPLETED).exists(), 60)
    assert executions_of(tmp_path / "trace") == {str(pure.pk): 1, str(next_one.pk): 1}
    assert invariants_check().faults == {}


@pytest.mark.parametrize("at_once", [None, 4], ids=["by one statement", "counted under a cap"])
def test_a_caller_whose_run_was_begun_unanswered_gets_its_outcome(
    hub: Processes, execute: Execute, gate: Gate, tmp_path: Path, at_once: int | None
) -> None:
    if at_once:
        bounds = ToolVersion.objects.get(tool__name="world_quick").declared["resourceBounds"]
        declare("world_quick", resourceBounds={**bounds, "maxConcurrency": at_once})
    _, address = hub.web()
    called(execute, address, "world_quick", tmp_path / "before")
    trace = tmp_path / "trace"
    gate.trap(b"COMMIT" if at_once else bytes(trace), after=bytes(trace))
    called(execute, address, "world_quick", trace)
    assert gate.trapped.is_set()
    assert Run.objects.filter(status=Status.COMPLETED).count() == 2
    assert [*executions_of(trace).values()] == [1]
    assert invariants_check().faults == {}
