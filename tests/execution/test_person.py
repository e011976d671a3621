"""A run that a person had made begins only while that person may still have it made."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group
from django.utils import timezone

from execution.engine.perform import queue_work
from execution.engine.requests import CallRequest
from execution.entry.schedules.fire import schedules_fire
from execution.entry.schedules.services import schedule_create
from execution.entry.tries.services import run_try
from execution.models import Run, Schedule, Status
from execution.runs.again import run_retry_by
from execution.runs.resolve import run_resolve
from execution.runs.verdicts import Verdict
from registry.models import Package, Tool
from security.models import Persona, User
from security.sharing.services import right_give, right_take
from tests.execution.effects.conftest import cascade
from tests.execution.fixtures import Declare, MakeRun

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[[User, Persona, MakeRun], object]


def try_it(kim: User, persona: Persona, _: MakeRun) -> object:
    return run_try(by=kim, persona=persona, tool="fx_echo", request=CallRequest(arguments={"value": "mine"}))


def do_again(kim: User, persona: Persona, make_run: MakeRun) -> object:
    return run_retry_by(by=kim, run=make_run(status=Status.COMPLETED))


def run_anew(kim: User, persona: Persona, make_run: MakeRun) -> object:
    unknown = make_run(status=Status.OUTCOME_UNKNOWN, attempt=1, started=True)
    return run_resolve(by=kim, run=unknown, verdict=Verdict.ANEW, reason="It did nothing.")


def by_the_clock(kim: User, persona: Persona, _: MakeRun) -> object:
    schedule_create(
        by=kim,
        name="each day",
        persona=persona,
        tool="fx_echo",
        arguments={"value": 1},
        cron="0 9 * * *",
        time_zone="UTC",
    )
    Schedule.objects.update(next_at=timezone.now() - timedelta(seconds=1))
    return schedules_fire()


WAYS: dict[str, Make] = {
    "Try it": try_it,
    "again": do_again,
    "anew": run_anew,
    "by the clock": by_the_clock,
}


@pytest.fixture
def kim(admin: User, fx: Package, persona: Persona) -> User:
    """Has no role, and the right to execute on the persona and on fx_echo alone."""
    kim = User.objects.create_user("kim")
    for thing in (persona, Tool.objects.get(name="fx_echo")):
        right_give(by=admin, thing=thing, to=kim, level="execute")
    return kim


def now(person: User) -> User:
    """The same as the next request knows them."""
    return User.objects.get(pk=person.pk)


def last() -> Run:
    return Run.objects.latest("id")


@pytest.mark.parametrize("on", ["persona", "tool"])
@pytest.mark.parametrize("make", WAYS.values(), ids=WAYS)
def test_a_right_that_is_taken_away_stops_the_runs_that_wait(
    admin: User, kim: User, persona: Persona, make_run: MakeRun, make: Make, on: str
) -> None:
    make(now(kim), persona, make_run)
    assert (last().status, last().responsible_id) == (Status.PENDING, kim.pk)
    thing = persona if on == "persona" else Tool.objects.get(name="fx_echo")
    right_take(by=admin, thing=thing, to=kim, level="execute")
    queue_work("default")
    error = last().error or {}
    said = "Refused before the start: kim may not call fx_echo as researcher any more."
    assert (last().status, error["code"], error["message"]) == (Status.FAILED, "PERMISSION_DENIED", said)


@pytest.mark.parametrize("make", WAYS.values(), ids=WAYS)
def test_who_has_the_right_yet_gets_the_outcome(
    admin: User, kim: User, persona: Persona, make_run: MakeRun, make: Make
) -> None:
    make(now(kim), persona, make_run)
    queue_work("default")
    assert last().status == Status.COMPLETED


def test_a_role_that_is_taken_away_stops_them_too(fx: Package, persona: Persona, make_run: MakeRun) -> None:
    lee = User.objects.create_user("lee")
    lee.groups.add(Group.objects.get(name="operator"))
    for _ in range(2):
        try_it(now(lee), persona, make_run)
    assert queue_work("default") == 2
    assert last().status == Status.COMPLETED
    try_it(now(lee), persona, make_run)
    lee.groups.clear()
    queue_work("default")
    assert (last().status, (last().error or {})["code"]) == (Status.FAILED, "PERMISSION_DENIED")


def test_it_is_asked_again_before_each_attempt(
    admin: User, kim: User, persona: Persona, make_run: MakeRun, declare: Declare
) -> None:
    make_run(token_id=None, responsible=kim, status=Status.WAITING_RETRY, attempt=1, started=True)
    Run.objects.update(status=Status.PENDING)
    right_take(by=admin, thing=persona, to=kim, level="execute")
    queue_work("default")
    assert (last().status, last().attempt) == (Status.FAILED, 2)


def test_what_follows_from_a_run_needs_no_right_of_its_own(
    kim: User, persona: Persona, make_run: MakeRun, declare: Declare
) -> None:
    """The contract of the first tool calls the other: the person has no right on that."""
    wanted = cascade("fx_wrap", arguments={"value": "arguments.value"})
    declare("fx_echo", effects=[wanted])
    try_it(now(kim), persona, make_run)
    queue_work("default")
    first = Run.objects.get(tool="fx_echo")
    assert (first.status, first.error) == (Status.COMPLETED, None)
    child = Run.objects.get(tool="fx_wrap")
    queue_work(child.queue)
    assert Run.objects.get(pk=child.pk).status == Status.COMPLETED
