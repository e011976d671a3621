"""Ninety seconds of all faults at once: no run lost, no second outcome, no effect repeated that must not be."""

import os
import shutil
import subprocess
import sys

import pytest

from chaos.load import Told
from chaos.processes import ROOT
from chaos.verdict import verdict
from tests.faults.conftest import missing

pytestmark = [pytest.mark.outages]


@pytest.mark.timeout(1200)
def test_ninety_seconds_of_faults() -> None:
    if not shutil.which("redis-server"):
        missing("redis-server is not installed (Debian: apt install redis-server)")
    command = [sys.executable, "-m", "chaos", "--seconds", os.environ.get("TOOLHUB_TEST_CHAOS_S", "90")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr


def kept(tool: str, status: str, code: str | None = None) -> dict[str, object]:
    run = {"tool": tool, "status": status, "code": code, "attempts": 1}
    return {"runs": {"r": run}, "late": 0, "faults": {"open_runs": 1}}


TOLD = [Told("k", "world_once", "r", "completed")]


@pytest.mark.parametrize(
    ("rows", "told", "seen", "word"),
    [
        (kept("world_once", "running"), TOLD, {"r": 1}, "lost"),
        (kept("world_once", "failed"), TOLD, {"r": 1}, "two outcomes"),
        (kept("world_once", "completed"), TOLD, {"r": 2}, "2 times"),
        (kept("world_once", "completed"), TOLD, {}, "never saw"),
        (kept("world_again", "outcome_unknown"), [], {"r": 1}, "unknown all the same"),
        (kept("world_again", "failed", "INTERNAL"), TOLD, {"r": 1}, "INTERNAL"),
        (kept("world_once", "completed"), [Told("k", "world_once", "gone")], {"r": 1}, "which is lost"),
        (kept("world_once", "completed"), [], {"r": 1}, "Nobody was told of 1 runs"),
        (kept("world_once", "completed"), TOLD, {"r": 1, "x": 1}, "nobody's"),
        (kept("world_once", "completed") | {"faults": {"outcome_twice": 1}}, TOLD, {"r": 1}, "outcome_twice"),
    ],
)
def test_the_verdict_finds(
    rows: dict[str, object], told: list[Told], seen: dict[str, int], word: str
) -> None:
    assert any(word in fault for fault in verdict(rows, told, seen).faults)


def test_the_verdict_on_what_went_well() -> None:
    found = verdict(kept("world_once", "completed"), TOLD, {"r": 1})
    assert (found.faults, found.accepted, found.outcomes, found.unknown) == ([], 1, 1, 0)
    assert found.executions == {1: 1}


def effect(code: str | None, *, undone: int, counted: int) -> dict[str, object]:
    """A call of world_effect that ended so, its undoing runs, and what the memory counts."""
    status = "failed" if code else "completed"
    rows: dict[str, object] = {"r": {"tool": "world_effect", "status": status, "code": code, "attempts": 1}}
    for number in range(undone):
        row = {"tool": "world_undo", "status": "completed", "code": None, "attempts": 1, "parent": "r"}
        rows[f"u{number}"] = row
    return {"runs": rows, "late": 0, "faults": {}, "counted": counted, "due_times": 0}


@pytest.mark.parametrize(
    ("rows", "word"),
    [
        (effect(None, undone=0, counted=2), "which says 2"),
        (effect(None, undone=0, counted=0), "which says 0"),
        (effect("EFFECT_FAILED", undone=0, counted=0), "0 undoing runs, not 1"),
        (effect("EFFECT_FAILED", undone=2, counted=0), "2 undoing runs, not 1"),
        (effect(None, undone=1, counted=1), "1 undoing runs, not 0"),
        (effect(None, undone=0, counted=1) | {"due_times": 1}, "1 due times"),
    ],
)
def test_the_verdict_counts_effects_undoing_and_schedules(rows: dict[str, object], word: str) -> None:
    told = [Told("k", "world_effect", "r")]
    seen = dict.fromkeys(rows["runs"], 1)  # type: ignore[call-overload]
    assert any(word in fault for fault in verdict(rows, told, seen).faults)
    for right in (effect(None, undone=0, counted=1), effect("EFFECT_FAILED", undone=1, counted=0)):
        assert verdict(right, told, dict.fromkeys(right["runs"], 1)).faults == []  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("asked", "messages", "word"),
    [
        (True, {}, "never came"),
        (True, {"r": {("a", "completed"), ("b", "completed")}}, "2 different messages"),
        (True, {"r": {("a", "failed")}}, "said failed, not completed"),
        (False, {"r": {("a", "completed")}}, "nobody asked"),
    ],
)
def test_the_verdict_counts_callbacks(
    asked: bool, messages: dict[str, set[tuple[str, str]]], word: str
) -> None:
    rows = kept("world_once", "completed")
    rows["runs"]["r"]["callback"] = asked  # type: ignore[index]
    assert any(word in fault for fault in verdict(rows, TOLD, {"r": 1}, messages).faults)
    rows["runs"]["r"]["callback"] = True  # type: ignore[index]
    assert verdict(rows, TOLD, {"r": 1}, {"r": {("a", "completed")}}).faults == []
