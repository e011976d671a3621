"""Calls, errors and times taken over time."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core.clock import uuid7
from execution.engine.selectors import first_id_at
from execution.models import Run, Status
from monitoring.series import series
from security.models import User

NOW = datetime(2030, 5, 1, 12, 10, 30, tzinfo=UTC)
Call = Callable[..., Any]


@pytest.fixture
def made(assign: Callable[[str], None], call: Call) -> Callable[..., None]:
    """Makes finished runs like a real one, at a time."""
    assign("echo")
    call("echo", {"text": "a"})
    like = Run.objects.values().get()
    Run.objects.all().delete()

    def make(at: datetime, *durations: float | None, status: str = Status.COMPLETED) -> None:
        for duration in durations:
            own = uuid7().int & ((1 << 80) - 1)
            key = type(uuid7())(int=first_id_at(at).int | own)
            Run.objects.create(
                **{**like, "id": key, "created_at": at, "duration_ms": duration, "status": status}
            )

    return make


def test_each_step_counts_its_own(admin: User, made: Callable[..., None]) -> None:
    made(NOW - timedelta(minutes=5), 10.0, 20.0, 30.0)
    made(NOW - timedelta(minutes=5), 40.0, status=Status.FAILED)
    made(NOW - timedelta(minutes=4), None, status=Status.PENDING)
    made(NOW - timedelta(hours=3), 9.0)
    steps = {step.at: step for step in series(1, admin, NOW) if step.calls}
    assert [(step.calls, step.errors) for step in steps.values()] == [(4, 1), (1, 0)]
    assert list(steps) == [datetime(2030, 5, 1, 12, 5, tzinfo=UTC), datetime(2030, 5, 1, 12, 6, tzinfo=UTC)]


def test_percentiles_are_those_of_the_nearest_rank(admin: User, made: Callable[..., None]) -> None:
    # Of 1..20 the nearest ranks are the 10th and the 19th value.
    made(NOW - timedelta(minutes=5), *[float(value) for value in range(20, 0, -1)], None)
    [step] = [step for step in series(24, admin, NOW) if step.calls]
    assert (step.calls, step.p50_ms, step.p95_ms) == (
        21,
        pytest.approx(10.0, rel=0.01),
        pytest.approx(19.0, rel=0.01),
    )


def test_steps_without_calls_are_there_and_without_time(admin: User, made: Callable[..., None]) -> None:
    made(NOW, None, status=Status.RUNNING)
    steps = series(1, admin, NOW)
    assert len(steps) == 60
    assert [step.calls for step in steps] == [0] * 59 + [1]
    assert {step.p95_ms for step in steps} == {None}


@pytest.mark.parametrize("hours", [1, 24, 168])
def test_the_steps_fill_the_time_up_to_now(admin: User, made: Callable[..., None], hours: int) -> None:
    steps = series(hours, admin, NOW)
    length = steps[1].at - steps[0].at
    assert len(steps) * length == timedelta(hours=hours)
    assert steps[-1].at <= NOW < steps[-1].at + length
