"""The bench itself, as a person starts it: two arms of this checkout beside its own last commit."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.server import ROOT

pytestmark = [pytest.mark.setup, pytest.mark.timeout(600)]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the commits")
def test_arms_are_measured_here_and_in_another_commit(tmp_path: Path) -> None:
    before = worktrees()
    words = ["--arms", "mcp", "--beside", "HEAD", "--rounds", "1", "--seconds", "0.3"]
    environment = {**os.environ, "TOOLHUB_BENCH_DATABASE_URL": "postgres://127.0.0.1:1/none"}
    figures = tmp_path / "figures.json"
    done = subprocess.run(
        [sys.executable, "-m", "bench", *words, "--json", str(figures)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SQLite is measured instead" in done.stdout
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    for arm in ("echo", "mcp"):
        assert f"{arm}, here / {commit} at 32: req/s" in done.stdout
    found = json.loads(figures.read_text())["calls"]
    assert {(one["side"], one["arm"]) for one in found["samples"]} == {
        (side, arm) for side in ("here", commit) for arm in ("echo", "mcp")
    }
    assert worktrees() == before


def worktrees() -> int:
    listed = subprocess.run(["git", "worktree", "list"], cwd=ROOT, capture_output=True, text=True, check=True)
    return len([line for line in listed.stdout.splitlines() if "toolhub-bench-" in line])
