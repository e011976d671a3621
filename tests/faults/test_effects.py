"""The process dies around the commit that writes outcome and effects: they are there together, and once."""

from pathlib import Path

import pytest

from core.outbox.models import Delivery
from execution.engine.invariants import invariants_check
from execution.memory.models import Item, SessionEvent, Webhook
from execution.models import Run, Status
from registry.models import ToolVersion
from security.models import Persona
from tests.faults.conftest import Deaths, Execute, declare, submitted
from tests.processes import Processes, wait_for

pytestmark = [pytest.mark.faults, pytest.mark.timeout(400)]
EFFECTS = [
    {"type": "state_change", "description": "Count.", "state": "n", "change": "increment"},
    {"type": "notification", "description": "Tell.", "event": "acted", "expression": "result"},
    {
        "type": "cascade",
        "description": "Go on.",
        "tool": "world_pure",
        "arguments": {"file": "arguments.file"},
    },
]
# place, whether the tool may be repeated, the run's end, how often the effects are there
PLACES = [
    ("effects.before", "world_again", Status.COMPLETED, 1),
    ("finish.before", "world_again", Status.COMPLETED, 1),
    ("finish.after", "world_again", Status.COMPLETED, 1),
    ("effects.before", "world_once", Status.OUTCOME_UNKNOWN, 0),
    ("finish.before", "world_once", Status.OUTCOME_UNKNOWN, 0),
    ("finish.after", "world_once", Status.COMPLETED, 1),
]


@pytest.fixture
def webhook(world_token: str) -> Webhook:
    """To nobody: what is owed is counted, not sent."""
    persona = Persona.objects.get(name="world")
    return Webhook.objects.create(persona=persona, url="http://127.0.0.1:1/", events=["acted"])


def test_effects_follow_an_outcome_once_or_not_at_all(
    hub: Processes,
    world_token: str,
    webhook: Webhook,
    deaths: Deaths,
    tmp_path: Path,
    subtests: pytest.Subtests,
) -> None:
    for tool in ("world_again", "world_once"):
        declare(tool, effects=EFFECTS)
    hub.worker(**deaths.env)
    hub.steward()
    total = 0
    for place, tool, end, times in PLACES:
        total += times
        with subtests.test(place=place, tool=tool):
            deaths.arm(place)
            run = submitted(world_token, tool, tmp_path / "trace")
            deaths.await_death(place)
            wait_for(lambda pk=run.pk, end=end: Run.objects.filter(pk=pk, status=end).exists(), 60)
            done = Run.objects.filter(parent=run, status=Status.COMPLETED)
            wait_for(lambda done=done, times=times: done.count() == times, 60)
            assert list(Item.objects.values_list("value", flat=True)) == [total]
            assert SessionEvent.objects.count() == Delivery.objects.count() == total
    assert invariants_check().faults == {}


# 6a: the attempt that failed is on record, or not; the run goes on in both cases.
def test_a_worker_that_dies_where_it_puts_a_run_back_to_wait_loses_nothing(
    hub: Processes, world_token: str, deaths: Deaths, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    declare("world_think", retry={"maxRetries": 2, "backoff": {"type": "fixed", "delay": 10}})
    ToolVersion.objects.filter(tool__name="world_think").update(timeout_ms=200)
    hub.worker(**deaths.env)
    hub.steward()
    for place in ("retry.before", "retry.after"):
        with subtests.test(place=place):
            deaths.arm(place)
            # Each attempt takes longer than it may.
            run = submitted(world_token, "world_think", tmp_path / "trace", seconds=5)
            deaths.await_death(place)
            wait_for(lambda pk=run.pk: Run.objects.filter(pk=pk, status=Status.TIMEOUT).exists(), 60)
            lost = run.attempts.filter(status="lost").count()
            assert lost == (1 if place == "retry.before" else 0)
            assert run.attempts.count() == 3 + lost
    assert invariants_check().faults == {}


def test_an_inline_run_whose_web_process_dies_at_its_effects_is_unknown(
    hub: Processes, execute: Execute, world_token: str, deaths: Deaths, tmp_path: Path
) -> None:
    declare("world_quick", effects=EFFECTS[:1])
    _, address = hub.web(**deaths.env)
    deaths.arm("effects.before")
    assert execute(address, "world_quick", {"file": str(tmp_path / "trace")}) is None
    deaths.await_death("effects.before")
    hub.steward()
    wait_for(lambda: Run.objects.filter(status=Status.OUTCOME_UNKNOWN).exists(), 60)
    assert Item.objects.count() == 0
    assert invariants_check().faults == {}
