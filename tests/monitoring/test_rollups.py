"""Rollups: what people read from them is what a count of the runs says, whatever has changed since."""

import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.utils import timezone

from core.clock import uuid7
from execution.engine.selectors import STATUS_GROUPS, first_id_at, runs_seen
from execution.engine.states import transition
from execution.models import Run, Status
from execution.rollups import roll
from execution.rollups.count import Figures, Piece
from execution.rollups.models import HALF_HOUR, Rollup, RollupPart
from execution.rollups.read import figures_read
from execution.rollups.roll import half_hour, rollup_write, rollups_keep
from execution.rollups.times import percentile
from registry.models import Package, Tool
from security.models import Persona, User
from security.services import persona_create
from security.sharing.services import right_give, right_take, team_set
from security.sharing.teams import team_create, team_join

NOW = datetime(2030, 5, 1, 12, 10, 30, tzinfo=UTC)
Make = Callable[..., Run]
OVER = [Status.COMPLETED] * 8 + [Status.FAILED, Status.TIMEOUT, Status.CANCELLED, Status.RUNNING]


@pytest.fixture
def make(assign: Callable[[str], None], call: Callable[..., Any]) -> Make:
    """Makes runs like a real one, at a time."""
    assign("echo")
    call("echo", {"text": "a"})
    like = Run.objects.values().get()
    Run.objects.all().delete()

    def do(at: datetime, **columns: Any) -> Run:
        key = type(uuid7())(int=first_id_at(at).int | uuid7().int & ((1 << 80) - 1))
        return Run.objects.create(**{**like, "id": key, "created_at": at, **columns})

    return do


def rolled(since: timedelta = timedelta(hours=26)) -> None:
    """Counts each half-hour that is over."""
    begin = half_hour(NOW - since)
    while begin + HALF_HOUR <= NOW:
        rollup_write(begin)
        begin += HALF_HOUR


class World:
    """Tools, personas and people of three teams, who were given this and that, and what they see."""

    def __init__(self, admin: User, make: Make, seed: int) -> None:
        self.admin, self.make, self.chance = admin, make, random.Random(seed)
        self.teams = [team_create(by=admin, name=f"team-{number}") for number in range(3)]
        self.personas = [persona_create(by=admin, name=f"agent-{number}") for number in range(5)]
        tools = list(Tool.objects.select_related("active", "package").order_by("name"))
        self.tools = self.chance.sample(tools, min(8, len(tools)))
        self.people = [admin, *(self._person(number) for number in range(6))]
        for _ in range(12):
            self.own()
            self.give()
        self.run(300)

    def _person(self, number: int) -> User:
        person = User.objects.create_user(f"person-{number}")
        if number != 5:  # who sees but what they were given
            code = Permission.objects.filter(codename="view_run")
            person.user_permissions.set(code)
        for team in self.chance.sample(self.teams, number % 3):
            team_join(by=self.admin, team=team, person=person)
        return person

    def _thing(self) -> Persona | Tool | Package:
        tool: Tool = self.chance.choice(self.tools)
        found: Persona | Tool | Package = self.chance.choice([*self.personas[1:], tool, tool.package])
        return type(found).objects.get(pk=found.pk)  # type: ignore[attr-defined,no-any-return]

    def own(self) -> None:
        """Some object becomes some team's, or everybody's."""
        team: Group | None = self.chance.choice([*self.teams, None])
        team_set(by=self.admin, thing=self._thing(), team=team)

    def give(self) -> None:
        """Somebody is given a right, or loses it."""
        to = self.chance.choice([*self.people[1:], *self.teams])
        act = self.chance.choice([right_give, right_give, right_take])
        act(by=self.admin, thing=self._thing(), to=to, level=self.chance.choice(["view", "execute"]))

    def run(self, count: int) -> None:
        """Calls in the last 25 hours."""
        for _ in range(count):
            tool, status = self.chance.choice(self.tools), self.chance.choice(OVER)
            took = (
                None if status == Status.RUNNING else self.chance.choice([0.0, self.chance.expovariate(0.01)])
            )
            at = NOW - timedelta(seconds=self.chance.uniform(0, 25 * 3600))
            persona = self.chance.choice(self.personas)
            self.make(
                at,
                status=status,
                tool=tool.name,
                tool_version_id=tool.active_id,
                persona_id=persona.pk,
                duration_ms=took,
            )

    def end(self, count: int) -> None:
        """Late: some runs get their outcome."""
        going = list(Run.objects.filter(status=Status.RUNNING).order_by("pk"))
        for run in self.chance.sample(going, min(count, len(going))):
            target = self.chance.choice([Status.COMPLETED, Status.FAILED])
            rows = Run.objects.filter(pk=run.pk)
            transition(rows, source=Status.RUNNING, target=target, who="finish", duration_ms=12.5)

    def check(self) -> None:
        """Each person reads what the plain query says."""
        for person in User.objects.filter(pk__in=[person.pk for person in self.people]):
            for steps in (
                [Piece(NOW - timedelta(hours=24), NOW + timedelta(hours=24))],
                [
                    Piece(
                        half_hour(NOW) - HALF_HOUR * back, half_hour(NOW) - HALF_HOUR * (back - 1), 50 - back
                    )
                    for back in range(50, -1, -1)
                ],
            ):
                compare(person, steps)


def compare(person: User, steps: list[Piece]) -> None:
    """What the person reads of each step, and what they see of the runs, one by one."""
    by_tool, by_time = figures_read(person, steps, "tools"), figures_read(person, steps, "times")
    rows = list(runs_seen(User.objects.get(pk=person.pk)).only("tool", "status", "duration_ms"))
    for step in steps:
        begin, end = first_id_at(step.begin), first_id_at(step.end)
        seen = [run for run in rows if begin <= run.pk < end]
        read, timed = by_tool.get(step.step, Figures()), by_time.get(step.step, Figures())
        for found in (read, timed):
            assert (found.calls, found.completed, found.unsuccessful) == (
                len(seen),
                sum(run.status == Status.COMPLETED for run in seen),
                sum(run.status in STATUS_GROUPS["unsuccessful"] for run in seen),
            )
        calls = Counter(run.tool for run in seen)
        failed = Counter(run.tool for run in seen if run.status in STATUS_GROUPS["unsuccessful"])
        assert (read.tools, read.failed) == (calls, failed)
        took = sorted(run.duration_ms for run in seen if run.duration_ms is not None)
        assert sum(timed.times.values()) == len(took)
        for share in (50, 95) if took else ():
            exact = took[-(-len(took) * share // 100) - 1]
            assert percentile(timed.times, share) == pytest.approx(exact, rel=0.01, abs=0.002)


@pytest.fixture
def world(admin: User, make: Make, request: pytest.FixtureRequest) -> World:
    return World(admin, make, request.param)


@pytest.mark.parametrize("world", range(3), indirect=True)
def test_everybody_reads_what_the_runs_say(world: World) -> None:
    world.check()  # of the runs alone
    rolled()
    world.check()
    world.end(10)
    world.check()  # some half-hours do not hold any more
    rolled(timedelta(hours=6))
    world.end(5)
    for _ in range(4):
        world.own()
    world.check()  # parts do not hold any more
    rolled()
    for _ in range(6):
        world.give()
    world.check()
    Rollup.objects.filter(begins_at__hour__in=[3, 9]).delete()
    world.check()
    rolled()
    world.check()


@pytest.mark.parametrize("world", [7], indirect=True)
def test_what_is_read_comes_from_rollups_while_they_hold(world: World) -> None:
    day = [Piece(NOW - timedelta(hours=24), NOW)]
    member = User.objects.get(username="person-1")

    def seen(person: User) -> int:
        """How many calls of the day, of personas and tools as they are owned now."""
        return figures_read(User.objects.get(pk=person.pk), day, "tools").get(0, Figures()).calls

    rolled()
    true = seen(member)
    nobodys = RollupPart.objects.filter(tool_team=None, package_team=None, persona_team=None)
    part = nobodys.filter(rollup__begins_at__gt=NOW - timedelta(hours=20)).earliest("rollup")
    RollupPart.objects.filter(pk=part.pk).update(calls=part.calls + 10_000)
    assert seen(member) == true + 10_000
    team_set(by=world.admin, thing=Persona.objects.get(name="agent-0"), team=world.teams[0])
    assert seen(member) <= true
    Rollup.objects.filter(pk=part.rollup_id).update(calls=20_000)
    assert seen(world.admin) > 20_000  # owners are no matter to who sees all


def test_an_open_run_elsewhere_does_not_stand_in_for_one_that_has_ended(admin: User, make: Make) -> None:
    """The numbers of open runs agree in sum, and not in each."""
    hours = [NOW - timedelta(hours=back) for back in (5, 4, 3)]
    first, *_ = (make(at, status=Status.RUNNING) for at in hours)
    for at in (hours[0], hours[2]):
        rollup_write(half_hour(at))
    transition(Run.objects.filter(pk=first.pk), source=Status.RUNNING, target=Status.FAILED, who="finish")
    steps = [Piece(NOW - timedelta(hours=24), NOW)]
    assert figures_read(admin, steps, "tools")[0].unsuccessful == 1


def test_the_steward_makes_what_is_missing_and_what_is_old(
    admin: User, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timezone, "now", lambda: NOW)
    assert rollups_keep() == 0  # without runs there is nothing to count
    run = make(NOW - timedelta(hours=2), status=Status.RUNNING)
    make(NOW - timedelta(hours=9), status=Status.COMPLETED)
    over = half_hour(NOW)
    assert rollups_keep() == 18
    assert Rollup.objects.latest("pk").begins_at == over - HALF_HOUR
    assert rollups_keep() == 0
    transition(
        Run.objects.filter(pk=run.pk),
        source=Status.RUNNING,
        target=Status.COMPLETED,
        who="finish",
        duration_ms=1.0,
    )
    assert rollups_keep() == 1
    assert Rollup.objects.get(begins_at=half_hour(run.created_at)).completed == 1
    team_set(by=admin, thing=Persona.objects.get(), team=team_create(by=admin, name="new"))
    monkeypatch.setattr(roll, "TURN_S", 0.0)
    assert rollups_keep() == 1  # the newest first, as far as a turn goes
    monkeypatch.setattr(roll, "TURN_S", 60.0)
    assert rollups_keep() == 17
    monkeypatch.setattr(timezone, "now", lambda: NOW + timedelta(days=30))
    rollups_keep()
    assert not Rollup.objects.filter(begins_at__lt=NOW).exists()
    assert not RollupPart.objects.filter(rollup__begins_at__lt=NOW).exists()


def test_a_half_hour_that_just_ended_is_left_to_settle(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    make(NOW - timedelta(hours=1), status=Status.COMPLETED)
    monkeypatch.setattr(timezone, "now", lambda: half_hour(NOW) + timedelta(minutes=4))
    rollups_keep()
    assert not Rollup.objects.filter(begins_at=half_hour(NOW) - HALF_HOUR).exists()
    monkeypatch.setattr(timezone, "now", lambda: half_hour(NOW) + timedelta(minutes=6))
    rollups_keep()
    assert Rollup.objects.filter(begins_at=half_hour(NOW) - HALF_HOUR).exists()
