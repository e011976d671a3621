"""The clocks of the hub's machines are wrong by hours (faults 9): leases go by the database's."""

from pathlib import Path

import pytest

from chaos.clock import clock as clock_env
from chaos.clock import clock_library
from chaos.verdict import executions_of
from execution.engine.invariants import invariants_check
from execution.models import Attempt, Run, Status
from tests.faults.conftest import Execute, missing, submitted
from tests.processes import Processes, wait_for

pytestmark = [pytest.mark.faults]


def clock(offset: str) -> dict[str, str]:
    """The environment of a process whose wall clock is off."""
    if clock_library() is None:
        missing("libfaketime is not installed (Debian: apt install libfaketime)")
    return clock_env(offset)


@pytest.mark.parametrize(("first", "second"), [("+2h", "-2h"), ("-2h", "+2h")])
def test_a_lost_worker_s_run_is_taken_by_one_whose_clock_shows_another_time(
    hub: Processes, world_token: str, tmp_path: Path, first: str, second: str
) -> None:
    """Neither is the lease over four hours too early, which a first attempt of two leases shows, nor too late."""
    trace = tmp_path / "trace"
    steward = hub.steward(**clock(second))
    worker = hub.worker(**clock(first))
    kept = submitted(world_token, "world_again", trace, seconds=6)
    wait_for(lambda: Run.objects.filter(pk=kept.pk, status=Status.COMPLETED).exists(), 60)
    assert Run.objects.get(pk=kept.pk).attempt == 1
    lost = submitted(world_token, "world_again", trace, seconds=3)
    wait_for(lambda: executions_of(trace)[str(lost.pk)] == 1, 60)
    hub.kill(worker)
    hub.worker(**clock(second))
    wait_for(lambda: Run.objects.filter(pk=lost.pk, status=Status.COMPLETED).exists(), 60)
    assert Run.objects.get(pk=lost.pk).attempt == 2
    assert steward.poll() is None
    assert invariants_check().faults == {}


def test_machines_whose_clocks_differ_by_four_hours_share_the_work(
    hub: Processes, execute: Execute, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    _, address = hub.web(**clock("+2h"))
    hub.worker(**clock("-2h"))
    hub.steward(**clock("+2h"))
    for tool in ("world_pure", "world_quick", "world_think"):
        answer = execute(address, tool, {"file": str(trace)}, Idempotency_Key=tool)
        assert answer
        assert answer["success"] is True
        again = execute(address, tool, {"file": str(trace)}, Idempotency_Key=tool)
        assert again
        assert again["metadata"]["run_id"] == answer["metadata"]["run_id"]
    assert not Attempt.objects.exclude(number=1).exists()
    assert invariants_check().faults == {}
