"""docs/runtimes.md can be followed word by word, from an empty folder to a tool of a new runtime over REST."""

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from chaos.processes import Processes
from execution.engine.runtimes import Runtime as Traits
from execution.runners.traits import HubRunner, Runner
from registry.models import Package
from registry.services import assignment_create
from security.models import Persona, User
from tests.processes import environment
from toolhub_sdk.runtimes.folders import RuntimesError, folders_read
from toolhub_sdk.runtimes.traits import Runtime

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGE = (ROOT / "docs" / "runtimes.md").read_text(encoding="utf-8")
CALL = re.compile(r"^curl .*$", re.MULTILINE)


def script() -> str:
    """The page's commands in their order, with the files that it shows written where it says."""
    parts = ["set -eu"]
    for kind, file, text in BLOCK.findall(PAGE):
        if file:
            parts.append(f"cat > {file} <<'END_OF_FILE'\n{text}END_OF_FILE")
        elif kind == "sh":
            parts.append(text)
    return "\n".join(parts)


@pytest.fixture
def hub(transactional_db: None, tmp_path: Path) -> Iterator[Processes]:
    """Processes that have the page's runtime."""
    given = {**environment(), "TOOLHUB_RUNTIMES": str(tmp_path / "runtimes" / "template")}
    processes = Processes(given)
    yield processes
    processes.end_all()


@pytest.mark.timeout(300)
def test_the_page_leads_to_a_call_of_a_new_runtime(
    hub: Processes, tmp_path: Path, admin: User, persona: Persona, token_text: str
) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    given = {name: value for name, value in hub.env.items() if name != "TOOLHUB_RUNTIMES"}
    done = subprocess.run(
        ["sh", "-c", script()],
        cwd=tmp_path,
        env={**given, "PATH": path, "HUB": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "letters 1.0.0: 0 errors" in done.stdout
    assert "1 passed, 0 failed" in done.stdout
    assert "letters 1.0.0 is installed" in done.stdout

    package = Package.objects.get(name="letters")
    assignment_create(by=admin, persona=persona, package=package)
    _, address = hub.web()
    (line,) = CALL.findall(PAGE)
    body = re.search(r"-d '(.*)'$", line)
    named = re.search(r"http://127\.0\.0\.1:8000(\S+)", line)
    assert body
    assert named
    request = urllib.request.Request(
        address + named[1],
        data=body[1].encode(),
        headers={"Authorization": f"Bearer {token_text}", "Content-Type": "application/json"},
        method="POST",
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        told = json.load(answer)
    promised = re.search(r'^answers `"data": (".*")`\.$', PAGE, re.MULTILINE)
    assert promised
    assert told["data"] == json.loads(promised[1])
    assert (told["metadata"]["status"], told["metadata"]["sandbox"]) == ("completed", "none")


def test_the_page_has_every_trait() -> None:
    base = {name for name in vars(Runtime) if not name.startswith("_")} | {"name"}
    told = set(re.findall(r"`(\w+)[`(]", PAGE))
    assert base - told <= {"is_own", "entry_of", "missing_remedy", "header_templates"} | {
        "entry_find",
        "describe",
        "extras",
    }
    traits = {name for name in (*vars(Traits), *Traits.__annotations__) if not name.startswith("_")}
    assert traits <= told
    for name in ("queue", "may_run_inline", "is_sandboxed", "is_trusted", "can_look"):
        shown = {True: "yes", False: "no"}
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}` "))
        values = [getattr(each, name) for each in (Runner, HubRunner)]
        assert [cell.strip(" `") for cell in row.split("|")[3:5]] == [shown.get(one, one) for one in values]


def _folder(at: Path, name: str = "good") -> Path:
    folder = at / name
    folder.mkdir()
    (folder / "sdk.py").write_text("RUNTIME = None\n")
    (folder / "sdk.py").chmod(0o644)
    folder.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("mend", "why"),
    [
        (lambda folder: folder.chmod(0o777), "others than root"),
        (lambda folder: (folder / "sdk.py").chmod(0o666), "others than root"),
        (lambda folder: (folder / "sdk.py").unlink(), "is not there"),
        (shutil.rmtree, "is not there"),
        (lambda folder: (folder / "more.py").symlink_to(_open_file(folder)), "others than root"),
    ],
)
def test_a_folder_that_others_can_write_or_that_is_not_whole_is_refused(
    tmp_path: Path, mend: object, why: str
) -> None:
    folder = _folder(tmp_path)
    assert folders_read(str(folder)) == [folder]
    mend(folder)  # type: ignore[operator]
    with pytest.raises(RuntimesError, match=why):
        folders_read(str(folder))


def _open_file(folder: Path) -> Path:
    target = folder.parent / "open"
    target.write_text("")
    target.chmod(0o666)
    return target


def test_a_folder_is_absolute_a_name_and_named_once(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    folder, twin = _folder(tmp_path), _folder(tmp_path / "other")
    for text, why in (
        ("runtimes/good", "not absolute"),
        (str(_folder(tmp_path, "not-a-name")), "letters, digits"),
        (f"{folder},{twin}", "two folders"),
    ):
        with pytest.raises(RuntimesError, match=why):
            folders_read(text)


SDK = "from toolhub_sdk.runtimes.traits import Runtime\nclass R(Runtime):\n    name = '{}'\nRUNTIME = R()\n"
HUB = "class R:\n    name, queue = '{}', '{}'\nRUNTIME = R()\n"


@pytest.mark.parametrize(
    ("sdk", "hub", "why"),
    [
        ("RUNTIME = 1", "", "sdk.py has no RUNTIME"),
        (SDK.format("wasm"), "", "The runtime name 'wasm' is taken"),
        (SDK.format("Not a name"), "", "The runtime name 'Not a name'"),
        (SDK.format("new"), "", "hub.py has no RUNTIME"),
        (SDK.format("new"), HUB.format("new", "mine"), "queue 'mine'"),
        (SDK.format("new"), HUB.format("other", "default"), "has no part in"),
    ],
)
def test_a_runtime_that_is_not_whole_stops_the_start(tmp_path: Path, sdk: str, hub: str, why: str) -> None:
    folder = _folder(tmp_path)
    (folder / "sdk.py").write_text(sdk)
    (folder / "hub.py").write_text(hub)
    done = _check(TOOLHUB_RUNTIMES=str(folder))
    assert done.returncode != 0
    assert why in done.stderr


def test_a_folder_where_packages_write_is_refused(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    done = _check(TOOLHUB_RUNTIMES=str(folder), TOOLHUB_DATA=str(tmp_path))
    assert done.returncode != 0
    assert "where packages and tools write" in done.stderr


def _check(**more: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TOOLHUB_")}
    return subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env={**clean, "TOOLHUB_DATA": str(settings.DATA), **more},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
