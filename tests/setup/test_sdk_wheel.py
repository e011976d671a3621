"""The SDK as authors get it: a wheel, installed into an environment where nothing else is."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UV = ROOT / ".venv" / "bin" / "uv"

pytestmark = [pytest.mark.setup, pytest.mark.timeout(300)]


def run(*words: str | Path, cwd: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(word) for word in words], cwd=cwd, capture_output=True, text=True, check=False, timeout=200
    )


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment that has the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    built = run(UV, "build", "--wheel", "--out-dir", folder, ROOT / "toolhub_sdk", cwd=folder)
    assert built.returncode == 0, built.stderr
    assert run(UV, "venv", "--python", sys.executable, folder / "venv", cwd=folder).returncode == 0
    python = folder / "venv" / "bin" / "python"
    (wheel,) = folder.glob("toolhub_sdk-*-py3-none-any.whl")
    installed = run(UV, "pip", "install", "--python", python, wheel, cwd=folder)
    assert installed.returncode == 0, installed.stderr
    return python


def test_the_wheel_is_enough_to_write_tools(python: Path, tmp_path: Path) -> None:
    assert run(python, "-m", "toolhub_sdk", "new", "my-tools", cwd=tmp_path).returncode == 0
    assert (tmp_path / "my-tools" / "toolhub.json").is_file()
    listed = run(UV, "pip", "list", "--python", python, cwd=tmp_path).stdout
    assert [line.split()[0] for line in listed.splitlines()[2:]] == ["toolhub-sdk"]


def test_the_checks_name_the_extra_that_they_need_and_work_with_it(python: Path, tmp_path: Path) -> None:
    run(python, "-m", "toolhub_sdk", "new", "my-tools", cwd=tmp_path)
    refused = run(python, "-m", "toolhub_sdk", "check", "my-tools", cwd=tmp_path)
    assert refused.returncode == 2
    assert "toolhub-sdk[check]" in refused.stderr
    (wheel,) = python.parents[2].glob("*.whl")
    installed = run(UV, "pip", "install", "--python", python, f"{wheel}[check]", cwd=tmp_path)
    assert installed.returncode == 0, installed.stderr
    for command in ("check", "test", "pack"):
        done = run(python.parent / "toolhub-sdk", command, "my-tools", cwd=tmp_path)
        assert done.returncode == 0, done.stderr + done.stdout
    assert (tmp_path / "dist" / "my-tools-0.1.0.zip").is_file()
