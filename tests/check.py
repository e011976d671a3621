"""What `make check` runs: every check, all of them also when one fails, and a line for each."""

import difflib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"
PYTHON = str(BIN / "python")
SNAPSHOT = ROOT / "toolhub" / "openapi.json"

Check = Callable[[], tuple[bool, str]]


def command(*words: str) -> Check:
    """A check that passes when the command exits 0."""

    def check() -> tuple[bool, str]:
        with tempfile.TemporaryDirectory() as data:
            env = {**os.environ, "TOOLHUB_DATA": data}
            done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
        return done.returncode == 0, done.stdout + done.stderr

    return check


def openapi() -> tuple[bool, str]:
    """The API description made from the code equals toolhub/openapi.json, which the hub shows."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "openapi.json"
        made, output = command(
            PYTHON,
            "manage.py",
            "spectacular",
            "--validate",
            "--fail-on-warn",
            "--format",
            "openapi-json",
            "--file",
            str(file),
        )()
        if not made:
            return False, output
        fresh = file.read_text()
    kept = SNAPSHOT.read_text() if SNAPSHOT.is_file() else ""
    lines = difflib.unified_diff(
        kept.splitlines(), fresh.splitlines(), "toolhub/openapi.json", "code", lineterm=""
    )
    difference = "\n".join(list(lines)[:60])
    return not difference, f"{difference}\nIf the change is meant: make openapi"


CHECKS: dict[str, Check] = {
    "ruff": command(str(BIN / "ruff"), "check", "--quiet", "."),
    "format": command(str(BIN / "ruff"), "format", "--check", "--quiet", "."),
    "templates, lint": command(str(BIN / "djlint"), "--lint", "--quiet", "templates"),
    "templates, format": command(str(BIN / "djlint"), "--check", "--quiet", "templates"),
    "layers": command(str(BIN / "lint-imports"), "--no-cache"),
    "Django": command(PYTHON, "manage.py", "check", "--fail-level", "WARNING"),
    "migrations": command(PYTHON, "manage.py", "makemigrations", "--check", "--dry-run"),
    "API description": openapi,
    "types": command(str(BIN / "mypy")),
    "types of scripts": command(
        str(BIN / "mypy"), "--explicit-package-bases", "bin/setting_up.py", "tests/run.py", "tests/check.py"
    ),
}


def main() -> int:
    failed = 0
    for name, check in CHECKS.items():
        start = time.monotonic()
        passed, output = check()
        failed += not passed
        print(f"{'ok    ' if passed else 'FAILED'} {name} ({time.monotonic() - start:.1f} s)", flush=True)
        if not passed:
            print(output.strip(), flush=True)
    print(f"{len(CHECKS) - failed} checks passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
