"""Reaping: what becomes of a run whose worker is lost depends on what it may have done."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from core.duties import rows
from execution.engine.lease import Lease
from execution.engine.reaper import REAPER, inline_release, runs_reap
from execution.engine.wait import retries_due
from execution.models import Attempt, Run, RunEvent, Status
from registry.models import ToolVersion
from tests.execution.fixtures import MakeRun, claim_next, reap

pytestmark = pytest.mark.django_db
Leased = Callable[..., Lease]


def reaped() -> Run:
    assert reap() == 1
    return Run.objects.get()


def test_a_lease_that_lasts_is_left_alone(make_run: MakeRun) -> None:
    make_run()
    assert claim_next("default")
    assert runs_reap() == 0
    assert Run.objects.get().status == Status.RUNNING


def test_an_impure_run_that_never_started_runs_again(leased: Leased) -> None:
    lease = leased("fx_count", started=False)
    run = reaped()
    assert (run.status, run.inline) == (Status.PENDING, False)
    assert lease.token != run.lease_token
    assert Attempt.objects.get().status == "lost"
    assert list(RunEvent.objects.values_list("kind", flat=True)) == ["LEASE_LOST", "RUN_RETRIED"]
    assert claim_next("default").attempt == 2  # type: ignore[union-attr]


def test_a_pure_run_runs_again(leased: Leased) -> None:
    leased("fx_echo")
    assert reaped().status == Status.PENDING


def test_an_idempotent_run_runs_again(leased: Leased) -> None:
    lease = leased("fx_count")
    ToolVersion.objects.filter(pk=lease.run.tool_version_id).update(is_idempotent=True)
    assert reaped().status == Status.PENDING


def test_an_impure_run_that_started_has_an_unknown_outcome(leased: Leased) -> None:
    leased("fx_count")
    run = reaped()
    assert (run.status, run.completed_at) == (Status.OUTCOME_UNKNOWN, None)
    assert reap() == 0


def test_also_at_the_third_attempt(leased: Leased) -> None:
    leased("fx_count", attempt=3)
    assert reaped().status == Status.OUTCOME_UNKNOWN


@pytest.mark.parametrize(
    ("attempt", "status"), [(1, Status.PENDING), (2, Status.PENDING), (3, Status.FAILED)]
)
def test_three_lost_workers_are_enough(leased: Leased, attempt: int, status: Status) -> None:
    leased("fx_crash", attempt=attempt)
    run = reaped()
    assert run.status == status
    if status is Status.FAILED:
        assert run.error["code"] == "WORKER_LOST"
        assert run.outcome_leaf is not None


def test_a_run_of_a_lost_web_process_goes_to_the_workers(leased: Leased) -> None:
    lease = leased("fx_echo")
    Run.objects.filter(pk=lease.run.pk).update(inline=True)
    assert reaped().inline is False
    assert claim_next("default") is not None


def looks(monkeypatch: pytest.MonkeyPatch, seconds: float, step: float) -> int:
    """The reaper looks again and again for so many seconds of its own clock; how many runs it takes."""
    now = [1000.0]
    monkeypatch.setattr("execution.engine.reaper.time.monotonic", lambda: now[0])
    taken = 0
    for _ in range(int(seconds / step) + 1):
        taken += runs_reap()
        now[0] += step
    return taken


def test_a_lease_is_over_after_its_time_without_a_beat_and_not_before(
    leased: Leased, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    leased("fx_echo")
    assert looks(monkeypatch, settings.LEASE_S - 1, 1.0) == 0
    assert looks(monkeypatch, settings.LEASE_S + 1, 1.0) == 1


def test_a_lease_lasts_as_long_as_beats_come(
    leased: Leased, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    run = leased("fx_echo").run
    for _ in range(5):
        assert looks(monkeypatch, settings.LEASE_S - 1, 1.0) == 0
        Run.objects.filter(pk=run.pk).update(beats=F("beats") + 1)


def test_what_the_reaper_did_not_look_at_does_not_count(
    leased: Leased, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that stood still for an hour did so with its workers: they are given time to beat."""
    leased("fx_echo")
    assert looks(monkeypatch, 3600.0, 1800.0) == 0


@pytest.mark.parametrize("jump", [timedelta(hours=2), -timedelta(hours=2)])
def test_no_wall_clock_takes_a_run(leased: Leased, monkeypatch: pytest.MonkeyPatch, jump: timedelta) -> None:
    """Neither the database's, of which the row tells, nor this machine's."""
    run = leased("fx_echo").run
    assert looks(monkeypatch, 5.0, 1.0) == 0
    Run.objects.filter(pk=run.pk).update(beat_at=timezone.now() - jump)
    monkeypatch.setattr("django.utils.timezone.now", lambda: datetime.now(UTC) + jump)
    assert looks(monkeypatch, 5.0, 1.0) == 0


def test_a_beat_between_look_and_reaping_saves_a_run(
    leased: Leased, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    run = leased("fx_echo").run
    seen = REAPER.over

    def beaten() -> Any:
        over = seen()
        Run.objects.filter(pk=run.pk).update(beats=F("beats") + 1)
        return over

    monkeypatch.setattr(REAPER, "over", beaten)
    assert reap() == 0
    assert Run.objects.get().status == Status.RUNNING


def test_only_so_many_are_reaped_at_once(leased: Leased, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "BATCH", 3)
    for _ in range(4):
        leased("fx_echo")
    assert (reap(), reap(), reap()) == (3, 1, 0)


def test_a_retry_becomes_due(make_run: MakeRun) -> None:
    make_run(status=Status.WAITING_RETRY)
    make_run(status=Status.WAITING_RETRY, due_at=timezone.now() + timedelta(hours=1))
    assert retries_due() == 1
    assert Run.objects.filter(status=Status.PENDING).count() == 1


def test_what_a_web_process_accepted_and_never_claimed_goes_to_the_workers(make_run: MakeRun) -> None:
    old: dict[str, Any] = {"inline": True, "created_at": timezone.now() - timedelta(minutes=2)}
    make_run(**old)
    make_run(inline=True)
    make_run(status=Status.RUNNING, **old)
    assert inline_release() == 1
    assert claim_next("default") is not None
    assert claim_next("default") is None
