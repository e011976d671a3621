"""The process dies around the commit that writes outcome and effects: they are there together, and once."""

from pathlib import Path

import pytest

from core.outbox.models import Delivery
from execution.memory.models import Item, SessionEvent, Webhook
from execution.models import Run, Status
from execution.runs.invariants import invariants_check
from registry.models import ToolVersion
from security.models import Persona
from tests.faults.conftest import Execute
from tests.faults.test_failpoints import armed, submitted
from tests.processes import Processes, wait_for
from toolhub_sdk.package import CONTRACT

pytestmark = [pytest.mark.faults]
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


def declare(tool: str, **contract: object) -> None:
    version = ToolVersion.objects.get(tool__name=tool)
    version.definition["_meta"][CONTRACT] |= contract
    version.save()


@pytest.mark.parametrize(("place", "tool", "end", "times"), PLACES)
def test_effects_follow_an_outcome_once_or_not_at_all(
    hub: Processes,
    world_token: str,
    webhook: Webhook,
    tmp_path: Path,
    place: str,
    tool: str,
    end: Status,
    times: int,
) -> None:
    declare(tool, effects=EFFECTS)
    env, file = armed(tmp_path, place)
    run = submitted(world_token, tool, tmp_path / "trace")
    hub.worker(**env)
    hub.steward()
    wait_for(lambda: not file.exists(), 60)
    wait_for(lambda: Run.objects.filter(pk=run.pk, status=end).exists(), 60)
    wait_for(lambda: Run.objects.filter(parent=run, status=Status.COMPLETED).count() == times, 60)
    assert list(Item.objects.values_list("value", flat=True)) == [1] * times
    assert SessionEvent.objects.count() == Delivery.objects.count() == times
    assert invariants_check().faults == {}


# 6a: the attempt that failed is on record, or not; the run goes on in both cases.
@pytest.mark.parametrize("place", ["retry.before", "retry.after"])
def test_a_worker_that_dies_where_it_puts_a_run_back_to_wait_loses_nothing(
    hub: Processes, world_token: str, tmp_path: Path, place: str
) -> None:
    declare("world_think", retry={"maxRetries": 2, "backoff": {"type": "fixed", "delay": 10}})
    ToolVersion.objects.filter(tool__name="world_think").update(timeout_ms=200)
    env, file = armed(tmp_path, place)
    # Each attempt takes longer than it may.
    run = submitted(world_token, "world_think", tmp_path / "trace", seconds=5)
    hub.worker(**env)
    hub.steward()
    wait_for(lambda: not file.exists(), 60)
    wait_for(lambda: Run.objects.filter(pk=run.pk, status=Status.TIMEOUT).exists(), 60)
    done = Run.objects.get(pk=run.pk)
    lost = done.attempts.filter(status="lost").count()
    assert lost == (1 if place == "retry.before" else 0)
    assert done.attempts.count() == 3 + lost
    assert invariants_check().faults == {}


def test_an_inline_run_whose_web_process_dies_at_its_effects_is_unknown(
    hub: Processes, execute: Execute, world_token: str, tmp_path: Path
) -> None:
    declare("world_quick", effects=EFFECTS[:1])
    env, file = armed(tmp_path, "effects.before")
    _, address = hub.web(**env)
    assert execute(address, "world_quick", {"file": str(tmp_path / "trace")}) is None
    assert not file.exists()
    hub.steward()
    wait_for(lambda: Run.objects.filter(status=Status.OUTCOME_UNKNOWN).exists(), 60)
    assert Item.objects.count() == 0
    assert invariants_check().faults == {}
