"""docs/authoring.md can be followed word by word, from an empty folder to an installed tool."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.migrated import migrated_copy

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGE = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")


def script() -> str:
    """The page's commands in their order, with the files that it shows written where it says."""
    parts = ["set -eu"]
    for kind, file, text in BLOCK.findall(PAGE):
        if file:
            parts.append(f"cat > {file} <<'END_OF_FILE'\n{text}END_OF_FILE")
        elif kind == "sh":
            parts.append(text)
    return "\n".join(parts)


@pytest.mark.setup
@pytest.mark.sandbox
@pytest.mark.timeout(400)
def test_the_page_leads_to_an_installed_tool(tmp_path: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("TOOLHUB_", "PYTHON"))}
    path = f"{Path(sys.executable).parent}:{clean['PATH']}"
    environment = {**clean, "PATH": path, "HUB": str(ROOT), "TOOLHUB_DATA": str(tmp_path / "data")}
    hub = [ROOT / ".venv" / "bin" / "python", ROOT / "manage.py"]
    if not migrated_copy(tmp_path / "data" / "toolhub.sqlite3"):
        subprocess.run([*hub, "migrate", "-v0"], env=environment, check=True, timeout=100)
    done = subprocess.run(
        ["sh", "-c", script()],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = done.stdout
    assert "greetings 0.1.0: 0 errors, 0 warnings" in told
    assert "machine-facts 0.1.0: 0 errors, 0 warnings" in told
    assert told.count("1 passed, 0 failed") == 2
    assert "greetings 0.1.0 is installed" in told
    assert "machine-facts 0.1.0 is installed" in told


@pytest.mark.skipif(shutil.which("node") is None, reason="this machine has no node")
def test_the_lines_for_node_are_a_tool(tmp_path: Path) -> None:
    ((_, _, code),) = [block for block in BLOCK.findall(PAGE) if block[0] == "js"]
    (tmp_path / "tool.js").write_text(code)
    done = subprocess.run(
        ["node", "tool.js"],
        cwd=tmp_path,
        input='{"arguments": {"name": "Ada"}}',
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == '"Hello, Ada!"'


def test_every_command_of_the_sdk_is_on_the_page() -> None:
    for command in ("new", "manifest", "check", "test", "pack"):
        assert f"python -m toolhub_sdk {command}" in PAGE
