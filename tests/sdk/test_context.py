"""What a tool sees of its run, and the errors it raises."""

import threading
import time
from datetime import UTC, datetime, timedelta, timezone
from random import Random

import pytest

from toolhub_sdk import Cancelled, FixedClock, ToolContext, ToolError


def test_every_id_is_default_when_nobody_says_otherwise() -> None:
    context = ToolContext()
    ids = (
        context.session_id,
        context.task_id,
        context.loop_id,
        context.agent_id,
        context.user_id,
        context.run_id,
    )
    assert ids == ("default",) * 6


def test_logs_and_parts_reach_the_run_in_order() -> None:
    logged: list[tuple[object, ...]] = []
    emitted: list[object] = []
    context = ToolContext(on_log=lambda *entry: logged.append(entry), on_emit=emitted.append)
    context.log("started", size=3)
    context.log("odd", level="warning")
    context.emit((1, {2}))
    context.emit("two")
    assert logged == [("started", {"size": 3}, "info"), ("odd", {}, "warning")]
    assert emitted == [[1, [2]], "two"]


def test_a_part_that_is_not_json_is_refused_and_not_sent() -> None:
    emitted: list[object] = []
    with pytest.raises(ToolError, match="INVALID_OUTPUT"):
        ToolContext(on_emit=emitted.append).emit(float("nan"))
    assert emitted == []


def test_a_cancelled_run_stops_its_tool() -> None:
    signal = threading.Event()
    context = ToolContext(run_id="r1", cancelled=signal)
    context.raise_if_cancelled()
    signal.set()
    with pytest.raises(Cancelled, match="r1"):
        context.raise_if_cancelled()


def test_the_time_left_never_is_less_than_nothing() -> None:
    assert ToolContext().seconds_left() is None
    assert ToolContext(deadline=time.monotonic() - 5).seconds_left() == 0.0
    left = ToolContext(deadline=time.monotonic() + 3600).seconds_left()
    assert left is not None
    assert 0 < left <= 3600


def test_the_clock_speaks_utc_and_a_fixed_one_repeats() -> None:
    assert ToolContext().clock.now().utcoffset() == timedelta(0)
    clock = FixedClock(datetime(2026, 1, 1, 5, 45, tzinfo=timezone(timedelta(hours=5, minutes=45))))
    assert clock.now() == clock.now() == datetime(2026, 1, 1, tzinfo=UTC)
    assert clock.now().utcoffset() == timedelta(0)


def test_chance_repeats_with_its_seed() -> None:
    assert ToolContext(random=Random(7)).random.random() == ToolContext(random=Random(7)).random.random()
    assert ToolContext(random=Random(7)).random.random() != ToolContext(random=Random(8)).random.random()


def test_a_tool_error_keeps_all_it_is_given() -> None:
    error = ToolError(
        "FILE_EXISTS",
        "It is there.",
        recoverable=False,
        suggestions=["Choose another."],
        details={"path": "a"},
        retryable=True,
    )
    assert (error.code, error.message, error.recoverable, error.retryable) == (
        "FILE_EXISTS",
        "It is there.",
        False,
        True,
    )
    assert (error.suggestions, error.details) == (("Choose another.",), {"path": "a"})
    assert str(error) == "FILE_EXISTS: It is there."
    assert ToolError("A", "b").recoverable
    assert not ToolError("A", "b").retryable


@pytest.mark.parametrize("code", ["", "lower", "WITH SPACE", "1A", "A" * 65, "A\n"])
def test_a_malformed_error_code_is_refused(code: str) -> None:
    with pytest.raises(ValueError, match="error code"):
        ToolError(code, "message")
