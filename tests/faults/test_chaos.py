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
