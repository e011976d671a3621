"""A worker that is told to end finishes the runs at hand, begins no other, and ends."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from execution.engine.invariants import invariants_check
from execution.models import Run, Status
from registry.models import Package
from tests.processes import Processes, wait_for
from tests.workers.conftest import Began
from tests.workers.test_workers import accept

pytestmark = [pytest.mark.broker, pytest.mark.timeout(180)]
Call = Callable[..., Any]
# Nine, and what a machine with much else to do adds.
PATIENCE_S = 40


@pytest.mark.parametrize("whom", ["the worker alone", "the worker with its processes"])
def test_what_is_at_hand_is_finished_and_what_waits_waits_on(
    hub: Processes, fx: Package, call: Call, began: Callable[[str], Began], tmp_path: Path, whom: str
) -> None:
    """A service's manager signals each process (systemd: KillMode=control-group), others the first alone."""
    world, first = tmp_path / "world", began("first")
    worker = hub.worker(concurrency=2)
    runs = [accept(call, "fx_count", {"file": str(world), "fifo": first.path, "seconds": 3}) for _ in "123"]
    waiting = [accept(call, "fx_count", {"file": str(world), "seconds": 3}) for _ in range(20)]
    at_hand = {first.wait()[0] for _ in "12"}
    if whom == "the worker alone":
        worker.send_signal(signal.SIGTERM)
    else:
        hub.signal(worker, signal.SIGTERM)
    assert worker.wait(PATIENCE_S) == 0
    done = {str(pk) for pk in Run.objects.filter(status=Status.COMPLETED).values_list("pk", flat=True)}
    assert at_hand <= done
    # One may have been begun with the commit that ended another, just before.
    assert len(done) <= len(at_hand) + 2
    others = Run.objects.exclude(pk__in=done)
    assert set(others.values_list("status", flat=True)) == {Status.PENDING}
    assert others.count() == len(runs) + len(waiting) - len(done)
    assert invariants_check().faults == {}


def test_one_that_waits_for_work_ends_too(hub: Processes, fx: Package, call: Call) -> None:
    """Its processes wait by a lock: one that ended by itself would take it along, and the worker hang."""
    worker = hub.worker(concurrency=2)
    assert call("fx_echo", {"value": 1}, HTTP_PREFER="respond-async").status_code == 202
    ended = Run.objects.filter(status=Status.COMPLETED)
    wait_for(ended.exists, 60)
    hub.signal(worker, signal.SIGTERM)
    assert worker.wait(PATIENCE_S) == 0
