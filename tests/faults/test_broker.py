"""The broker is killed and comes back without its messages: workers hear bells again (faults 4 and 5)."""

from pathlib import Path

import amqp
import pytest

from chaos.services import BROKERS
from execution.engine.invariants import invariants_check
from execution.models import Run, Status
from tests.faults.conftest import missing, submitted
from tests.processes import Processes, wait_for
from tests.workers.conftest import queues_purge

pytestmark = [pytest.mark.outages, pytest.mark.timeout(400)]
PREFIX = "test.broker."


@pytest.mark.parametrize("name", ["redis", "rabbitmq"])
def test_a_worker_resumes_when_the_broker_was_killed_and_started_again(
    hub: Processes, world_token: str, tmp_path: Path, name: str
) -> None:
    try:
        broker = BROKERS[name](tmp_path, PREFIX)
        broker.lose(0)
    except (OSError, amqp.AMQPError) as error:
        missing(f"{name}: {error}")
    settings = {"TOOLHUB_BROKER_URL": broker.url, "TOOLHUB_QUEUE_PREFIX": PREFIX}
    try:
        hub.worker(**settings)
        hub.steward(**settings)
        for seconds in (0.0, 3.0):
            run = submitted(world_token, "world_once", tmp_path / "trace")
            wait_for(lambda pk=run.pk: Run.objects.filter(pk=pk, status=Status.COMPLETED).exists(), 60)
            broker.lose(seconds)
        run = submitted(world_token, "world_once", tmp_path / "trace")
        wait_for(lambda: Run.objects.filter(pk=run.pk, status=Status.COMPLETED).exists(), 60)
        assert invariants_check().faults == {}
    finally:
        hub.end_all()
        broker.remove()


def test_a_thousand_runs_whose_bells_are_lost_are_all_carried_out(
    hub: Processes, world_token: str, tmp_path: Path
) -> None:
    for _ in range(1000):
        submitted(world_token, "world_pure", tmp_path)
    assert queues_purge()
    hub.worker(concurrency=2)
    hub.steward()
    wait_for(lambda: Run.objects.filter(status=Status.COMPLETED).count() == 1000, 300)
    assert invariants_check().faults == {}
