"""The process dies just before or after each commit on a run's way; one outcome comes of it all the same.

One hub serves a whole table: its processes come back by themselves, and each place is armed when its turn is.
"""

import re
from pathlib import Path

import pytest

from chaos.processes import ROOT, answers
from chaos.verdict import executions_of
from execution.engine.invariants import invariants_check
from execution.models import Approval, Run, Status
from registry.models import ToolVersion
from security.decisions import APPROVED
from security.models import Persona, Token, User
from security.services import grant_create, token_create, token_revoke
from tests.faults.conftest import Deaths, Execute, declare, submitted
from tests.processes import Processes, wait_for

pytestmark = [pytest.mark.faults, pytest.mark.timeout(400)]


def ended(run: Run, end: Status) -> None:
    wait_for(lambda: Run.objects.filter(pk=run.pk, status=end).exists(), 60)


# place, tool, the run's end, how often the world saw it
BEGUN_AT_ONCE = [
    ("start.before", "world_once", Status.COMPLETED, 1),
    ("start.after", "world_once", Status.OUTCOME_UNKNOWN, 0),
    ("start.after", "world_again", Status.COMPLETED, 1),
    ("finish.before", "world_once", Status.OUTCOME_UNKNOWN, 1),
    ("finish.before", "world_again", Status.COMPLETED, 2),
    ("finish.after", "world_once", Status.COMPLETED, 1),
]
# A run whose right rests on CEL is claimed by one commit, and started by another.
CLAIMED_FIRST = [
    ("claim.before", "world_once", Status.COMPLETED, 1),
    ("claim.after", "world_once", Status.COMPLETED, 1),
    ("start.before", "world_once", Status.COMPLETED, 1),
    ("start.after", "world_once", Status.OUTCOME_UNKNOWN, 0),
]


@pytest.mark.parametrize("table", [BEGUN_AT_ONCE, CLAIMED_FIRST], ids=["begun at once", "claimed first"])
def test_a_worker_that_dies_leaves_one_outcome(
    hub: Processes,
    world_token: str,
    deaths: Deaths,
    tmp_path: Path,
    subtests: pytest.Subtests,
    table: list[tuple[str, str, Status, int]],
) -> None:
    if table is CLAIMED_FIRST:
        always = [{"kind": "cel", "expression": "true"}]
        other = User.objects.create_superuser("other")
        persona = Persona.objects.get()
        grant_create(by=other, persona=persona, capability=APPROVED, reason="r", conditions=always)
    trace = tmp_path / "trace"
    hub.worker(**deaths.env)
    hub.steward()
    for place, tool, end, seen in table:
        with subtests.test(place=place, tool=tool):
            deaths.arm(place)
            run = submitted(world_token, tool, trace)
            deaths.await_death(place)
            ended(run, end)
            assert executions_of(trace)[str(run.pk)] == seen
    assert invariants_check().faults == {}


# Two runs, of which the second begins by the commit that finishes the first: their ends, and how often the
# world saw them.
BEGUN_WITH_A_FINISH = [
    ("start.before", Status.COMPLETED, 2, Status.COMPLETED, 1),
    ("start.after", Status.COMPLETED, 1, Status.OUTCOME_UNKNOWN, 0),
]


def test_a_worker_that_dies_between_two_runs_leaves_each_one_outcome(
    hub: Processes, world_token: str, deaths: Deaths, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    trace = tmp_path / "trace"
    hub.worker(concurrency=1, **deaths.env)
    hub.steward()
    for place, *known in BEGUN_WITH_A_FINISH:
        with subtests.test(place=place):
            first = submitted(world_token, "world_think", trace, seconds=2)
            wait_for(lambda run=first: executions_of(trace)[str(run.pk)], 60)  # type: ignore[misc]
            second = submitted(world_token, "world_once", trace)
            deaths.arm(place)
            deaths.await_death(place)
            for run, end, seen in zip((first, second), known[::2], known[1::2], strict=True):
                ended(run, Status(end))
                assert executions_of(trace)[str(run.pk)] == seen
    assert invariants_check().faults == {}


def test_a_worker_that_dies_over_a_run_that_may_not_start_leaves_one_outcome(
    hub: Processes, world_token: str, deaths: Deaths, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """A run whose right was lost is claimed by itself, and ended without a start."""
    trace = tmp_path / "trace"
    admin, persona = User.objects.get(), Persona.objects.get()
    lost = []
    for place in ("claim.before", "claim.after", "finish.before", "finish.after"):
        token, text = token_create(by=admin, persona=persona, name=place)
        lost.append((place, submitted(text, "world_once", trace), token))
    Run.objects.update(due_at="2199-01-01T00:00:00Z")
    hub.worker(**deaths.env)
    hub.steward()
    for place, run, token in lost:
        with subtests.test(place=place):
            token_revoke(by=admin, token=Token.objects.get(pk=token.pk))
            deaths.arm(place)
            Run.objects.filter(pk=run.pk).update(due_at="2020-01-01T00:00:00Z")
            deaths.await_death(place)
            ended(run, Status.FAILED)
            row = Run.objects.get(pk=run.pk)
            assert ((row.error or {})["code"], row.started_at) == ("PERMISSION_DENIED", None)
    assert not executions_of(trace)
    assert invariants_check().faults == {}


def test_a_steward_that_dies_while_it_reaps_takes_nothing_with_it(
    hub: Processes, world_token: str, deaths: Deaths, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    trace = tmp_path / "trace"
    hub.worker(**deaths.env)
    for place in ("reap.before", "reap.after"):
        with subtests.test(place=place):
            deaths.arm("start.after")
            run = submitted(world_token, "world_again", trace)
            deaths.await_death("start.after")
            deaths.arm(place)
            dying = hub.steward(**deaths.env)
            deaths.await_death(place)
            dying.wait(10)
            steward = hub.steward()
            ended(run, Status.COMPLETED)
            assert executions_of(trace)[str(run.pk)] == 1
            hub.kill(steward)
    assert invariants_check().faults == {}


LATER = {"Prefer": "respond-async"}
# place, tool, headers, the run's end or None where nothing was accepted, how often the world saw it
WEB: list[tuple[str, str, dict[str, str], Status | None, int]] = [
    ("accept.before", "world_once", LATER, None, 0),
    ("accept.after", "world_once", LATER, Status.COMPLETED, 1),
    ("ring.before", "world_once", LATER, Status.COMPLETED, 1),
    # A pure run is written together with its outcome.
    ("short.before", "world_pure", {}, None, 0),
    # One that is not is accepted and started by one commit, and finished by another.
    ("accept.before", "world_quick", {}, None, 0),
    ("start.before", "world_quick", {}, None, 0),
    ("start.after", "world_quick", {}, Status.OUTCOME_UNKNOWN, 0),
    ("finish.before", "world_quick", {}, Status.OUTCOME_UNKNOWN, 1),
    ("finish.after", "world_quick", {}, Status.COMPLETED, 1),
]
# Where places under a cap are counted, by several statements in one transaction.
COUNTED = [(place, *row) for place, *row in WEB if row[0] == "world_quick"]
COUNTED.insert(1, ("accept.after", "world_quick", {}, None, 0))
ASKED = [
    ("ask.before", "world_again", LATER, None, 0),
    ("accept.after", "world_again", LATER, Status.AWAITING_APPROVAL, 0),
]


def test_a_web_process_that_dies_leaves_one_outcome_or_nothing(
    hub: Processes,
    world_token: str,
    execute: Execute,
    deaths: Deaths,
    tmp_path: Path,
    subtests: pytest.Subtests,
) -> None:
    trace = tmp_path / "trace"
    served = [hub.web(**deaths.env)]
    hub.worker()
    hub.steward()

    def address() -> str:
        """Of a web process that answers. It comes back after a death, and ends where deaths are too many."""
        web, where = served[0]
        wait_for(lambda: web.poll() is not None or answers(where), 60)
        if web.poll() is not None:
            served[0] = hub.web(**deaths.env)
        return served[0][1]

    def dies_at(place: str, tool: str, headers: dict[str, str], end: Status | None, seen: int) -> None:
        before = set(Run.objects.values_list("pk", flat=True))
        where = address()
        deaths.arm(place)
        assert execute(where, tool, {"file": str(trace)}, **headers) is None
        deaths.await_death(place)
        runs = list(Run.objects.exclude(pk__in=before))
        assert len(runs) == (end is not None)
        for run in runs:
            ended(run, end or Status.FAILED)
            assert executions_of(trace)[str(run.pk)] == seen

    for place, tool, headers, end, seen in WEB:
        with subtests.test(place=place, tool=tool):
            dies_at(place, tool, headers, end, seen)
    bounds = ToolVersion.objects.get(tool__name="world_quick").declared["resourceBounds"]
    declare("world_quick", resourceBounds={**bounds, "maxConcurrency": 5})
    for place, tool, headers, end, seen in COUNTED:
        with subtests.test(place=place, tool=tool, counted=True):
            dies_at(place, tool, headers, end, seen)
    declare("world_again", requiresApproval=True)
    for place, tool, headers, end, seen in ASKED:
        with subtests.test(place=place):
            dies_at(place, tool, headers, end, seen)
    assert Approval.objects.count() == 1
    with subtests.test(place="short.after"):
        known = Run.objects.count()
        where, call = address(), ("world_pure", {"file": "a"})
        deaths.arm("short.after")
        assert execute(where, *call, Idempotency_Key="once") is None
        deaths.await_death("short.after")
        again = execute(address(), *call, Idempotency_Key="once") or {}
        assert again["data"] == "a"
        assert Run.objects.count() == known + 1
    assert invariants_check().faults == {}


def test_every_place_is_planted_somewhere() -> None:
    named = set()
    for app in ("core", "security", "registry", "execution"):
        for file in (ROOT / app).rglob("*.py"):
            named |= set(re.findall(r"""failpoint\("([a-z.]+)"\)""", file.read_text(encoding="utf-8")))
    tests = "".join(file.read_text(encoding="utf-8") for file in Path(__file__).parent.glob("*.py"))
    assert len(named) > 15
    assert [place for place in sorted(named) if f'"{place}"' not in tests] == []
