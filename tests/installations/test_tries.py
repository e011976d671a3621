"""What a self-test makes of a call that ran out of time: whether the tool or the machine was slow."""

from threading import Event
from types import SimpleNamespace
from typing import Any, cast

import pytest

from registry.installations import tries
from registry.installations.trials import Ask, Tried

LATE = {"code": "TIMEOUT", "message": "late"}
BOUND = 300


class Job:
    """A job that only listens."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.cancelled = Event()
        self.installation = SimpleNamespace(report={})

    def say(self, text: str) -> None:
        self.said.append(text)

    def check(self) -> None:
        return

    def write(self, **columns: Any) -> None:
        self.installation.report = columns["report"]


@pytest.mark.parametrize(
    ("start", "is_tool"), [(BOUND // 10, True), (BOUND, False)], ids=["the tool", "its start"]
)
def test_what_worked_for_all_of_its_time_was_slow_itself_unless_its_start_was(
    monkeypatch: pytest.MonkeyPatch, start: int, is_tool: bool
) -> None:
    asked: list[Ask] = []

    def trial(version: Any, ask: Ask) -> Tried:
        asked.append(ask)
        if ask.arguments is None:
            return Tried(None, None, start, cpu_ms=start)
        late = not ask.least_ms
        return Tried("x", LATE if late else None, BOUND, cpu_ms=BOUND, fault="time" if late else "")

    monkeypatch.setattr(tries, "trial_of", lambda runner: trial)
    job = Job()
    done = tries.Tries(cast(Any, job), {}).call(tool(), "example 1", {"a": 1})
    assert (done.error == LATE) is is_tool
    assert len(asked) == (2 if is_tool else 4)
    assert ("the tool itself was slow" in job.said[0]) is is_tool


# How long a call with room took, how long a bare start did, whether it failed with room, and whose fault it is.
CASES = [
    ("a start that takes most of it", 2_100, 2_000, None, "machine"),
    ("a start that is slower the second time", 2_100, 3_000, None, "machine"),
    ("a tool that sleeps", 5_000, 90, None, "tool"),
    ("a tool that needs twice its bound", 800, 90, None, "tool"),
    ("late with room, too", 10_000, 90, LATE, "tool"),
    ("another error with room", 500, 90, {"code": "NO_TOWN", "message": "none"}, "tool"),
]


@pytest.mark.parametrize(
    ("took", "start", "error", "fault"), [row[1:] for row in CASES], ids=[row[0] for row in CASES]
)
def test_with_room_it_is_seen_who_was_slow(
    monkeypatch: pytest.MonkeyPatch, took: int, start: int, error: dict[str, Any] | None, fault: str
) -> None:
    asked: list[Ask] = []

    def trial(version: Any, ask: Ask) -> Tried:
        asked.append(ask)
        if ask.arguments is None:
            return Tried(None, None, start)
        if not ask.least_ms:
            return Tried(None, LATE, BOUND, cpu_ms=40, fault="time")
        return Tried("x", error, took, fault="time" if error is LATE else "")

    monkeypatch.setattr(tries, "trial_of", lambda runner: trial)
    job = Job()
    done = tries.Tries(cast(Any, job), {}).call(tool(), "example 1", {"a": 1})
    assert (done.error is None) is (fault == "machine")
    assert [ask.least_ms for ask in asked][:2] == [0, 10_000]
    assert len(asked) == (2 if error else 3 if fault == "machine" else 1 + 2 * tries.ROUNDS)
    assert "try 1 ran out of its 300 ms, 40 ms of them at work. Try 2 has 10,000 ms." in job.said[0]
    assert bool(job.installation.report.get("warnings")) is (fault == "machine")


@pytest.mark.parametrize("fault", ["time", "killed"])
def test_what_may_have_had_an_effect_is_not_called_again(monkeypatch: pytest.MonkeyPatch, fault: Any) -> None:
    asked: list[Ask] = []

    def trial(version: Any, ask: Ask) -> Tried:
        asked.append(ask)
        return Tried(None, LATE, BOUND, fault=fault)

    monkeypatch.setattr(tries, "trial_of", lambda runner: trial)
    done = tries.Tries(cast(Any, Job()), {}).call(tool(pure=False), "example 1", {"a": 1})
    assert done.error == LATE
    assert len(asked) == 1


def tool(*, pure: bool = True) -> Any:
    version = SimpleNamespace(runner="python", timeout_ms=BOUND, is_pure=pure, is_idempotent=False)
    return SimpleNamespace(name="slow", version=version)
