"""Requirements are names and versions, and nothing that acts."""

import sys
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from core.errors import ToolHubError
from core.programs import Ended, program_run
from registry import environments
from registry.environments import environment_build, environment_name, is_locked, lock_make, requirements_read
from registry.scratch import folder_bytes
from tests.installations import packages
from tests.installations.conftest import Install

HASH = "--hash=sha256:" + "a" * 64


@pytest.mark.parametrize(
    "line",
    [
        "-e .",
        "--index-url https://example.org/simple",
        "--extra-index-url=https://example.org/simple",
        "-r other.txt",
        "--find-links /tmp",
        "humanize @ https://example.org/humanize.whl",
        "humanize @ file:///tmp/x",
        "git+https://example.org/x.git",
        "./local",
        "/etc/passwd",
        "humanize==1.0 --install-option=x",
        "humanize==${VERSION}",
        "humanize==1.0 \\\n--index-url https://example.org",
        "a b c",
    ],
)
def test_what_is_more_than_a_name_is_refused_with_its_line(line: str) -> None:
    with pytest.raises(ToolHubError) as refused:
        requirements_read(f"# first\n{line}\n")
    assert refused.value.code == "REQUIREMENTS_REFUSED"
    assert refused.value.data["line"] == 2


def test_names_markers_extras_and_hashes_are_read_as_pip_reads_them() -> None:
    text = f'Humanize[x] >= 4 ; python_version < "4" # why\n\nrich==13.0 \\\n    {HASH}\n'
    assert requirements_read(text) == ['Humanize[x]>=4; python_version < "4"', f"rich==13.0 {HASH}"]


def test_only_exact_versions_with_hashes_are_a_lock() -> None:
    assert is_locked([f"rich==13.0 {HASH}"])
    assert not is_locked(["rich==13.0"])
    assert not is_locked([f"rich>=13.0 {HASH}"])
    assert not is_locked([f"rich==13.* {HASH}"])
    assert not is_locked([f'rich>=13.0; python_version == "3.11" {HASH}'])
    assert is_locked([f'rich==13.0; python_version >= "3.11" {HASH}'])


def test_a_lock_names_every_package_with_hashes_and_makes_one_environment(
    settings: Any, tmp_path: Any
) -> None:
    settings.DATA = tmp_path
    lines: list[str] = []
    lock = lock_make(["humanize==4.11.0"], say=lines.append, cancelled=Event())
    assert lock.startswith("humanize==4.11.0 --hash=sha256:")
    assert lock_make(requirements_read(lock), say=lines.append, cancelled=Event()) == lock
    folder = environment_build(lock, say=lines.append, cancelled=Event())
    assert folder.name == environment_name(lock)
    assert (folder / "humanize" / "__init__.py").is_file()
    assert (folder / "humanize" / "__init__.py").stat().st_nlink == 1
    assert [one.name for one in folder.parent.iterdir()] == [folder.name]


def test_a_wrong_hash_is_not_installed(settings: Any, tmp_path: Any) -> None:
    settings.DATA = tmp_path
    with pytest.raises(ToolHubError) as refused:
        environment_build(f"humanize==4.11.0 {HASH}\n", say=lambda line: None, cancelled=Event())
    assert refused.value.code == "DEPENDENCY_MISSING"
    assert list((tmp_path / "environments").iterdir()) == []


def test_dependencies_that_grow_too_large_are_stopped_while_they_come(
    settings: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA = tmp_path
    lock = lock_make(["humanize==4.11.0"], say=lambda line: None, cancelled=Event())
    monkeypatch.setattr(environments, "BYTES_MAX", 10_000)
    with pytest.raises(ToolHubError) as refused:
        environment_build(lock, say=lambda line: None, cancelled=Event())
    assert refused.value.code == "RESOURCE_EXCEEDED"
    assert list((tmp_path / "environments").iterdir()) == []


def test_a_program_that_makes_too_much_is_killed_while_it_makes_it(tmp_path: Path) -> None:
    script = "import time\nfor n in range(1000): open(str(n), 'w').write('x' * 100_000); time.sleep(0.01)"
    ended = program_run(
        [sys.executable, "-c", script],
        folder=tmp_path,
        seconds=60,
        cancelled=Event(),
        is_large=lambda: folder_bytes(tmp_path, 1_000_000) > 1_000_000,
    )
    assert ended is Ended.LARGE
    assert folder_bytes(tmp_path, 1 << 40) < 90_000_000


def test_a_package_that_does_not_exist_is_missing() -> None:
    with pytest.raises(ToolHubError) as refused:
        lock_make(["no-such-package-of-anybody==99"], say=lambda line: None, cancelled=Event())
    assert refused.value.code == "DEPENDENCY_MISSING"


@pytest.mark.django_db(transaction=True)
def test_a_tool_uses_what_its_package_requires(install: Install) -> None:
    code = packages.GREET.replace("from toolhub_sdk", "import humanize\nfrom toolhub_sdk").replace(
        'return f"Hello, {name}!"', "return humanize.intcomma(1234567)"
    )
    one = install(
        packages.zip_write(
            {
                **packages.files(
                    code=code,
                    runtime={"type": "python", "entry": "greetings", "requires": "requirements.txt"},
                    tools=[packages.tool(examples=[{"arguments": {"name": "x"}, "result": "1,234,567"}])],
                ),
                "requirements.txt": b"humanize==4.11.0\n",
            }
        )
    )
    assert one.status == "published", (one.error, [line.text for line in one.lines.all()])
    assert one.report["dependencies"] == ["humanize==4.11.0"]
