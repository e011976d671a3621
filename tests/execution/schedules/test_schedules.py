"""Schedules: due once, however many stewards there are and whatever is lost; refused like any call."""

import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import connection

from audit.models import Event
from core.errors import Denied, InvalidRequest
from execution.engine.perform import queue_work
from execution.entry.schedules.fire import schedules_fire
from execution.entry.schedules.services import schedule_create, schedule_delete, schedule_switch
from execution.models import Run, Schedule, Status
from execution.steward import Duty, duties, duty_perform
from registry.models import Package, Tool
from registry.services import assignment_delete
from security.models import Persona, User
from security.services import persona_switch
from security.sharing.services import right_give, right_take

pytestmark = pytest.mark.django_db
Make = Callable[..., Schedule]
DUE = datetime(2026, 1, 1, 9, 0, tzinfo=UTC)


@pytest.fixture
def make(admin: User, persona: Persona, fx: Package) -> Make:
    """A schedule for nine o'clock each day, due at DUE for the first time."""

    def do(next_at: datetime | None = DUE, **changes: Any) -> Schedule:
        wishes: dict[str, Any] = {
            "by": admin,
            "name": "morning",
            "persona": persona,
            "tool": "fx_echo",
            "arguments": {"value": 1},
            "cron": "0 9 * * *",
            "time_zone": "UTC",
        }
        schedule = schedule_create(**{**wishes, **changes})
        Schedule.objects.filter(pk=schedule.pk).update(next_at=next_at)
        return Schedule.objects.get(pk=schedule.pk)

    return do


def now_of(schedule: Schedule) -> Schedule:
    return Schedule.objects.get(pk=schedule.pk)


def test_a_due_schedule_makes_one_run_and_moves_on(make: Make, admin: User) -> None:
    schedule = make()
    assert schedules_fire(DUE - timedelta(seconds=1)) == 0
    assert schedules_fire(DUE) == 1
    assert schedules_fire(DUE + timedelta(minutes=5)) == 0
    schedule, run = now_of(schedule), Run.objects.get()
    assert (schedule.last_at, schedule.next_at) == (DUE, DUE + timedelta(days=1))
    assert (schedule.last_run_id, schedule.last_error) == (run.pk, "")
    assert (run.status, run.arguments, run.persona_id) == (Status.PENDING, {"value": 1}, schedule.persona_id)
    assert (run.token_id, run.responsible_id) == (None, admin.pk)
    assert queue_work("default") == 1
    assert Run.objects.get().result == 1
    fired = json.loads(Event.objects.get(kind="schedule.fired").canonical)
    assert (fired["run"], fired["data"]["due"]) == (str(run.pk), "2026-01-01T09:00:00+00:00")


def test_what_was_missed_is_made_up_for_once(make: Make) -> None:
    schedule = make()
    later = DUE + timedelta(days=10, hours=3)
    assert schedules_fire(later) == 1
    assert schedules_fire(later + timedelta(seconds=1)) == 0
    assert now_of(schedule).next_at == DUE + timedelta(days=11)
    assert Run.objects.count() == 1


def test_a_due_time_that_comes_back_makes_no_second_run(make: Make) -> None:
    schedule = make()
    schedules_fire(DUE)
    # As after a crash between the run and the advance, if the two were not one transaction.
    Schedule.objects.filter(pk=schedule.pk).update(next_at=DUE)
    schedules_fire(DUE)
    assert Run.objects.count() == 1
    assert now_of(schedule).next_at == DUE + timedelta(days=1)


def test_a_crash_before_the_commit_leaves_neither_run_nor_advance(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Crash(BaseException):
        pass

    def crash(*_: object) -> None:
        raise Crash

    schedule = make()
    with monkeypatch.context() as patched:
        patched.setattr("execution.entry.schedules.fire._fired_entry", crash)
        with pytest.raises(Crash):
            schedules_fire(DUE)
    assert Run.objects.count() == 0
    assert now_of(schedule).next_at == DUE
    assert schedules_fire(DUE) == 1
    assert Run.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_several_stewards_at_once_make_one_run(make: Make) -> None:
    for number in range(5):
        make(name=f"schedule {number}")
    barrier = threading.Barrier(4)
    failed: list[Exception] = []

    def steward() -> None:
        try:
            barrier.wait(10)
            # Without the duty's lock, which would hide a fault of the claim.
            schedules_fire(DUE)
        except Exception as error:  # noqa: BLE001 - shown by the assertion below
            failed.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=steward) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == []
    assert Run.objects.count() == 5
    assert Event.objects.filter(kind="schedule.fired").count() == 5


def test_firing_is_a_duty_of_the_steward(make: Make) -> None:
    make()
    [duty] = [duty for duty in duties() if duty.name == "schedules"]
    assert isinstance(duty, Duty)
    assert duty_perform(duty) == 1
    assert Run.objects.count() == 1


def test_a_refused_call_makes_no_run_and_says_why(make: Make, fx: Package, admin: User) -> None:
    schedule = make()
    assignment_delete(by=admin, assignment=fx.assignments.get())
    assert schedules_fire(DUE) == 1
    schedule = now_of(schedule)
    assert schedule.last_error.startswith("TOOL_NOT_FOUND")
    assert schedule.next_at == DUE + timedelta(days=1)
    assert Run.objects.count() == 0
    assert Event.objects.filter(kind="run.refused").count() == 1


def test_who_left_is_not_responsible_any_more(make: Make, admin: User) -> None:
    schedule = make()
    User.objects.filter(pk=admin.pk).update(is_active=False)
    schedules_fire(DUE)
    assert now_of(schedule).last_error == "PERMISSION_DENIED: The person responsible has left."
    assert Run.objects.count() == 0


def test_a_schedule_does_not_outlive_the_right_to_make_it(make: Make, admin: User, persona: Persona) -> None:
    """Who lost the right on the persona, or on the tool, calls with its rights no more."""
    kim, echo = User.objects.create_user("kim"), Tool.objects.get(name="fx_echo")
    for thing in (persona, echo):
        right_give(by=admin, thing=thing, to=kim, level="execute")
    schedule = make(by=User.objects.get(pk=kim.pk))
    for day, thing in enumerate((persona, echo)):
        right_take(by=admin, thing=thing, to=kim, level="execute")
        assert schedules_fire(DUE + timedelta(days=day)) == 1
        said = "PERMISSION_DENIED: kim may not make schedules of fx_echo as researcher any more."
        assert now_of(schedule).last_error == said
        right_give(by=admin, thing=thing, to=kim, level="execute")
    assert Run.objects.count() == 0
    assert Event.objects.filter(kind="run.refused").exists()
    schedules_fire(DUE + timedelta(days=2))
    assert (Run.objects.count(), now_of(schedule).last_error) == (1, "")


@pytest.mark.parametrize("lost", ["persona", "assignment", "person"])
def test_a_right_that_is_lost_before_the_start_stops_a_run_without_a_token(
    make: Make, fx: Package, admin: User, persona: Persona, lost: str
) -> None:
    make()
    schedules_fire(DUE)
    if lost == "persona":
        persona_switch(by=admin, persona=persona, on=False)
    elif lost == "assignment":
        assignment_delete(by=admin, assignment=fx.assignments.get())
    else:
        User.objects.filter(pk=admin.pk).update(is_active=False)
    assert queue_work("default") == 1
    run = Run.objects.get()
    assert (run.status, run.error["code"]) == (Status.FAILED, "PERMISSION_DENIED")


def test_a_run_that_nobody_answers_for_does_not_start(make_run: Callable[..., Run]) -> None:
    make_run(token_id=None)
    assert queue_work("default") == 1
    run = Run.objects.get()
    assert (run.status, run.error["code"]) == (Status.FAILED, "PERMISSION_DENIED")


def test_too_many_waiting_runs_delay_a_schedule(make: Make, settings: Any) -> None:
    schedule = make()
    settings.QUEUE_MAX = 0
    assert schedules_fire(DUE) == 0
    assert now_of(schedule).next_at == DUE
    settings.QUEUE_MAX = 10
    assert schedules_fire(DUE) == 1


def test_off_it_is_not_due_and_on_again_it_makes_nothing_up(make: Make, admin: User) -> None:
    schedule = make()
    schedule_switch(by=admin, schedule=schedule, on=False)
    assert now_of(schedule).next_at is None
    assert schedules_fire(DUE + timedelta(days=9)) == 0
    schedule_switch(by=admin, schedule=schedule, on=True)
    schedule_switch(by=admin, schedule=schedule, on=True)
    next_at = now_of(schedule).next_at
    assert next_at is not None
    assert next_at > datetime.now(UTC)
    kinds = Event.objects.filter(subject_kind="schedule").order_by("id").values_list("kind", flat=True)
    assert list(kinds) == ["schedule.created", "schedule.switched_off", "schedule.switched_on"]


def test_deleted_its_runs_stay(make: Make, admin: User) -> None:
    schedule = make()
    schedules_fire(DUE)
    schedule_delete(by=admin, schedule=schedule)
    schedule_delete(by=admin, schedule=schedule)
    assert Schedule.objects.count() == 0
    assert Run.objects.count() == 1
    assert Event.objects.filter(kind="schedule.deleted").count() == 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 81}, "name"),
        ({"tool": "fx_none"}, "tool"),
        ({"version": "9"}, "version"),
        ({"arguments": {}}, "arguments"),
        ({"arguments": [1]}, "arguments"),
        ({"tool": "fx_capable", "arguments": {}}, "persona"),
        ({"cron": "0 9 * *"}, "cron"),
        ({"time_zone": "Mars/Olympus"}, "time_zone"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_at_its_field(make: Make, changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        make(**changes)
    assert [error["pointer"] for error in refusal.value.errors] == [f"/{field}"]
    assert Schedule.objects.count() == 0


def test_each_door_asks_for_its_permission(make: Make, viewer: User) -> None:
    schedule = make()
    doors: dict[str, Callable[[User], object]] = {
        "add_schedule": lambda by: make(by=by),
        "change_schedule": lambda by: schedule_switch(by=by, schedule=schedule, on=False),
        "delete_schedule": lambda by: schedule_delete(by=by, schedule=schedule),
    }
    for permission, door in doors.items():
        with pytest.raises(Denied):
            door(viewer)
        viewer.user_permissions.set([Permission.objects.get(codename=permission)])
        door(User.objects.get(pk=viewer.pk))
        viewer.user_permissions.clear()
