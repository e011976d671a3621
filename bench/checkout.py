"""The checkouts that are measured: this one, and another commit's with an environment of its own."""

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.load import BenchError
from bench.server import ROOT

SETUP_S = 900.0


@dataclass(frozen=True)
class Checkout:
    """A folder with the hub's code, the Python that runs it, and how the report calls it."""

    name: str
    root: Path
    python: Path


HERE = Checkout("here", ROOT, Path(sys.executable))


@contextlib.contextmanager
def commit_checkout(commit: str, folder: Path) -> Iterator[Checkout]:
    """A commit's checkout below a folder, set up by its own `bin/setup`; removed afterwards.

    Its `bench/` is replaced by this one, so that both are measured by the same arms. Raises BenchError.
    """
    number = _git("rev-parse", "--short", "--verify", f"{commit}^{{commit}}")
    root = folder / f"commit-{number}"
    _git("worktree", "add", "--detach", str(root), number)
    try:
        setup = [sys.executable, "bin/setup"]
        done = subprocess.run(setup, cwd=root, capture_output=True, text=True, check=False, timeout=SETUP_S)
        if done.returncode:
            raise BenchError(f"{number} cannot be set up: {(done.stdout + done.stderr).strip()[-500:]}")
        shutil.rmtree(root / "bench")
        shutil.copytree(ROOT / "bench", root / "bench", ignore=shutil.ignore_patterns("__pycache__"))
        yield Checkout(number, root, root / ".venv" / "bin" / "python")
    finally:
        _git("worktree", "remove", "--force", str(root))


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchError(f"git {words[0]} failed: {done.stderr.strip()[-300:]}")
    return done.stdout.strip()
