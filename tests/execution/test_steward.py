"""The steward's duties: each by one steward at a time, and bells without a flood."""

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.conf import settings as django_settings
from django.db import OperationalError, connection, connections

from execution.engine import bells
from execution.engine.bells import AGAIN_S, Bells
from execution.models import Run, Status
from execution.steward import Duty, duties, duty_perform, steward_run
from tests.execution.fixtures import MakeRun

pytestmark = pytest.mark.django_db


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Counts bells instead of sending them; that real ones arrive is shown in tests/workers."""
    heard: list[str] = []

    def hear(queue: str) -> bool:
        heard.append(queue)
        return True

    monkeypatch.setattr(bells, "ring", hear)
    return heard


def test_bells_are_the_smaller_of_due_runs_and_slots(make_run: MakeRun, rung: list[str]) -> None:
    for _ in range(3):
        make_run()
    assert Bells(slots=2).top_up() == 2
    assert Bells(slots=10).top_up() == 3
    assert set(rung) == {"default"}


def test_ten_thousand_rounds_without_a_worker_are_no_flood(make_run: MakeRun, rung: list[str]) -> None:
    """Faults 11."""
    for _ in range(5):
        make_run()
    one = Bells(slots=2)
    for _ in range(20):
        one.top_up()
    assert len(rung) == 2


def test_each_queue_has_bells_of_its_own(make_run: MakeRun, rung: list[str]) -> None:
    make_run()
    make_run(queue="sandbox")
    assert Bells(slots=2).top_up() == 2
    assert sorted(rung) == ["default", "sandbox"]


def test_what_is_not_due_rings_nothing(make_run: MakeRun, rung: list[str]) -> None:
    make_run(inline=True)
    make_run(status=Status.RUNNING)
    make_run(due_at="2199-01-01T00:00:00Z")
    assert Bells(slots=2).top_up() == 0


def test_new_work_after_all_was_done_rings_anew(make_run: MakeRun, rung: list[str]) -> None:
    one = Bells(slots=2)
    run = make_run()
    assert one.top_up() == 1
    Run.objects.filter(pk=run.pk).update(status=Status.CANCELLED)
    assert one.top_up() == 0
    make_run()
    assert one.top_up() == 1


def test_a_bell_that_nobody_heard_is_rung_again_after_a_while(
    make_run: MakeRun, rung: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run()
    one = Bells(slots=2)
    one.top_up()
    later = time.monotonic() + AGAIN_S
    monkeypatch.setattr(bells.time, "monotonic", lambda: later)
    assert one.top_up() == 1


def test_a_bell_that_could_not_be_sent_does_not_count(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run()
    one = Bells(slots=2)
    monkeypatch.setattr(bells, "ring", lambda queue: False)
    assert one.top_up() == 0
    monkeypatch.setattr(bells, "ring", lambda queue: True)
    assert one.top_up() == 1


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1/0", "amqp://guest:guest@127.0.0.1:1//"])
def test_a_broker_that_is_away_is_no_error_and_costs_little(url: str) -> None:
    """Nobody listens on port 1. In a process of its own, because the broker is chosen at the start."""
    code = "import django; django.setup(); from execution.engine.bells import ring; print(ring('default'))"
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=django_settings.ROOT,
        env={
            "PATH": "/usr/bin:/bin",
            "DJANGO_SETTINGS_MODULE": "toolhub.settings",
            "TOOLHUB_DATA": str(django_settings.DATA),
            "TOOLHUB_BROKER_URL": url,
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == "False"
    assert "the steward rings later" in done.stderr
    assert time.monotonic() - begun < 30


def test_every_duty_does_nothing_where_there_is_nothing_to_do() -> None:
    assert [duty_perform(duty) for duty in duties()] == [0] * len(duties())
    assert len({duty.name for duty in duties()}) == len(duties())


@pytest.mark.django_db(transaction=True)
def test_a_duty_is_performed_by_one_steward_at_a_time() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("one steward is all that SQLite has")
    inside, leave = threading.Event(), threading.Event()

    def slow() -> int:
        inside.set()
        assert leave.wait(30)
        return 1

    def perform(duty: Duty) -> int | None:
        try:
            return duty_perform(duty)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(perform, Duty("one", 1.0, slow))
        assert inside.wait(30)
        assert duty_perform(Duty("one", 1.0, lambda: 2)) is None
        assert duty_perform(Duty("another", 1.0, lambda: 3)) == 3
        leave.set()
        assert first.result(30) == 1
    assert duty_perform(Duty("one", 1.0, lambda: 2)) == 2


@pytest.mark.django_db(transaction=True)
def test_a_duty_that_fails_takes_its_changes_back_and_the_others_go_on(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run()
    stop = threading.Event()

    def broken() -> int:
        Run.objects.update(tool="changed")
        raise OperationalError("gone")

    def last() -> int:
        stop.set()
        return 1

    def mistaken() -> int:
        raise KeyError("a mistake")

    made = [Duty("broken", 1.0, broken), Duty("mistaken", 1.0, mistaken), Duty("last", 1.0, last)]
    monkeypatch.setattr("execution.steward.duties", lambda: made)
    steward_run(stop)
    assert stop.is_set()
    assert Run.objects.get().tool == "fx_echo"
