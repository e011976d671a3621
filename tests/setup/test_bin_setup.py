"""What a newcomer reads when the machine lacks something that set-up needs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDED = (
    "bin/setup", "bin/setting_up.py", "bin/programs.py", "requirements.txt", "requirements-dev.txt",
    "requirements-node.txt", "package.json", "package-lock.json", ".npmrc", "static/icons.txt",
)  # fmt: skip

pytestmark = pytest.mark.setup


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The set-up's own files alone, as after a clone."""
    for name in NEEDED:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def setup(checkout: Path, *before: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs bin/setup with the base Python, after the statements `before` in the same process."""
    base = str(Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}")
    script = checkout / "bin" / "setup"
    start = f"import runpy; sys.argv = ['setup']; runpy.run_path({str(script)!r}, run_name='__main__')"
    code = "\n".join(["import sys", f"sys.path.insert(0, {str(script.parent)!r})", *before, start])
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("TOOLHUB_", "PYTHON"))}
    return subprocess.run(
        [base, "-c", code], env={**clean, **env}, capture_output=True, text=True, timeout=100, check=False
    )


def test_an_old_python_is_told_which_ones_will_do(checkout: Path) -> None:
    done = setup(checkout, "sys.version_info = (3, 9, 2, 'final', 0)", TOOLHUB_SETUP_PYTHON="chosen")
    assert done.returncode == 1
    assert done.stderr == (
        "Set-up stopped: ToolHub needs Python 3.11, 3.12 or 3.13, and this is Python 3.9. "
        "Install one of them (Debian: apt install python3 python3-venv) and run the same command again.\n"
    )


def test_a_missing_python3_venv_is_named(checkout: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken" / "ensurepip"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'ensurepip'\")\n")
    done = setup(checkout, PYTHONPATH=str(broken.parent))
    assert done.returncode == 1
    assert "apt install python3-venv" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (checkout / ".venv").exists()


def test_too_little_disk_space_is_told_before_anything_is_made(checkout: Path) -> None:
    done = setup(checkout, TOOLHUB_SETUP_SPACE_MB="1000000000000")
    assert done.returncode == 1
    assert "not enough disk space" in done.stderr
    assert "about 1000000000000 MB are needed" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (checkout / ".venv").exists()


def test_an_unreachable_index_is_one_sentence_and_the_tools_last_lines(checkout: Path) -> None:
    nowhere = "http://127.0.0.1:9"
    done = setup(
        checkout,
        PIP_INDEX_URL=nowhere,
        PIP_NO_CACHE_DIR="1",
        PIP_RETRIES="0",
        PIP_CONFIG_FILE=os.devnull,
        PIP_FIND_LINKS="",
        UV_INDEX_URL=nowhere,
        npm_config_registry=nowhere,
        npm_config_fetch_retries="0",
        npm_config_cache=str(checkout / "npm-cache"),
    )
    assert done.returncode == 1
    assert done.stderr.startswith("Set-up stopped: Installing the ")
    assert "could not be reached. Check network and proxy settings." in done.stderr.splitlines()[0]
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 15


def test_an_icon_that_does_not_exist_is_named_with_its_neighbours(checkout: Path) -> None:
    (checkout / "node_modules").symlink_to(ROOT / "node_modules")
    (checkout / "static" / "icons.txt").write_text("home\nshield-chek\n")
    code = (
        f"import sys; sys.path.insert(0, {str(checkout / 'bin')!r})\n"
        "import setting_up\nfrom pathlib import Path\n"
        "try:\n    setting_up.copy_assets(Path('made'))\n"
        "except setting_up.SetupError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=checkout, capture_output=True, text=True, check=True, timeout=60
    )
    assert "static/icons.txt lists 'shield-chek', which is no outline icon of Tabler" in done.stdout
    assert "shield-check" in done.stdout


def test_a_second_set_up_does_nothing_and_says_nothing() -> None:
    """On this checkout, which `make test` has just set up."""
    done = subprocess.run(
        [str(ROOT / "bin" / "setup"), "--dev"], capture_output=True, text=True, check=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_no_lock_names_an_index_or_an_address() -> None:
    for lock in ROOT.glob("requirements*.txt"):
        text = lock.read_text()
        assert "--hash=sha256:" in text
        assert not any(word in text for word in ("index-url", "find-links", "://"))
    assert '"resolved"' not in (ROOT / "package-lock.json").read_text()
