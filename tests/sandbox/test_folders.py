"""Folders that an admin names, and those of sessions: read or written as granted, held to their size."""

import os
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings

from core.actors import SYSTEM
from execution.engine.call import Call
from execution.engine.outcomes import Outcome
from execution.engine.places import Place
from execution.memory.services import session_end
from execution.models import Status
from execution.runners.perform import call_run
from registry.models import ToolVersion
from security.sandbox import probes, remedies
from security.sandbox.doctor import diagnose
from security.sandbox.folders import folder_read, session_folder, session_folder_remove, stale_sweep
from security.sandbox.interpreter import interpreter, interpreter_mounts
from security.sandbox.launch import Launch, Mount
from security.sandbox.levels import Level
from security.sandbox.run import sandbox_run
from tests.sandbox.packages import publish, tool_of

pytestmark = [pytest.mark.sandbox, pytest.mark.django_db]
# Does one act in a folder that it finds by its variable.
TOOL = '''
import os
from pathlib import Path
from typing import Annotated, Any

from toolhub_sdk import Field, tool

Any_ = Annotated[Any, Field(description="Anything.")]

@tool(name="folder_act")
def act(folder: Any_, name: Any_, text: Any_ = None) -> Any:
    """Reads or writes a file in a folder."""
    where = os.environ.get("TOOLHUB_FOLDER_" + folder.upper())
    if where is None:
        return "no folder"
    try:
        path = Path(where, name)
        if text is None:
            return path.read_text()
        path.write_text(text)
        return sorted(os.listdir(where))
    except OSError as error:
        return type(error).__name__
'''
Perform = Callable[..., Outcome]


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    """Two folders of this machine, open to the user of a run."""
    for name in ("reports", "drop"):
        (tmp_path / name).mkdir()
        os.chmod(tmp_path / name, 0o777)
    (tmp_path / "reports" / "one").write_text("first")
    (tmp_path / "reports" / "link").symlink_to("/etc/passwd")
    settings.FOLDERS = [f"reports={tmp_path}/reports", f"drop={tmp_path}/drop:rw", f"gone={tmp_path}/gone"]
    return tmp_path


@pytest.fixture(params=["isolated", "confined"])
def perform(db: None, folder: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Carries the tool out with a filesystem of its contract, at each level that is a boundary."""
    if request.param == "confined":
        probes.probe.cache_clear()
        for module in (probes, remedies):
            monkeypatch.setattr(module, "bubblewrap", lambda: None)

    session_folder_remove(1, "s")

    def do(act: dict[str, Any], *, session: str = "s", persona: int = 1, **filesystem: list[str]) -> Outcome:
        ToolVersion.objects.filter(tool__name="folder_act").exists() or publish(
            {
                "name": "folder",
                "version": "1.0.0",
                "runtime": {"type": "python", "entry": "folder"},
                "tools": [tool_of("folder_act", "act", sideEffects="impure", filesystem=filesystem)],
            },
            {"folder.py": TOOL.encode()},
        )
        version = ToolVersion.objects.get(tool__name="folder_act")
        call = Call(
            run_id=uuid.uuid4(),
            tool="folder_act",
            runner="python",
            version=version,
            arguments=act,
            request={"context": {"session_id": session}},
            attempt=1,
            timeout_ms=30_000,
            max_output_bytes=1 << 20,
            inline=False,
            persona_id=persona,
        )
        outcome = call_run(call)
        if outcome.sandbox:
            assert outcome.sandbox["level"] == request.param
        return outcome

    yield do
    probes.probe.cache_clear()


def data(outcome: Outcome) -> Any:
    assert outcome.status is Status.COMPLETED, outcome
    return outcome.data


def test_a_folder_to_read_is_read_and_not_written(perform: Perform, folder: Path) -> None:
    granted = {"read": ["reports"]}
    assert data(perform({"folder": "reports", "name": "one"}, **granted)) == "first"
    refused = data(perform({"folder": "reports", "name": "two", "text": "x"}, **granted))
    assert refused in {"OSError", "PermissionError"}
    assert sorted(os.listdir(folder / "reports")) == ["link", "one"]
    assert "root" not in str(data(perform({"folder": "reports", "name": "link"}, **granted)))
    assert data(perform({"folder": "drop", "name": "x"}, **granted)) == "no folder"
    assert data(perform({"folder": "reports", "name": "../drop"}, **granted)).endswith("Error")


def test_a_folder_to_write_is_written(perform: Perform, folder: Path) -> None:
    granted = {"read": ["reports"], "write": ["drop"]}
    assert data(perform({"folder": "drop", "name": "new", "text": "made"}, **granted)) == ["new"]
    assert (folder / "drop" / "new").read_text() == "made"
    assert data(perform({"folder": "reports", "name": "one", "text": "x"}, **granted)).endswith("Error")


@pytest.mark.parametrize(
    ("filesystem", "told"),
    [
        ({"read": ["nothing"]}, "no folder named 'nothing'"),
        ({"read": ["/etc"]}, "no folder named '/etc'"),
        ({"write": ["reports"]}, "may read the folder 'reports' and not write"),
        ({"read": ["gone"]}, "is not on the worker's machine"),
    ],
)
def test_what_is_not_granted_is_refused_with_what_to_do(
    perform: Perform, filesystem: dict[str, list[str]], told: str
) -> None:
    done = perform({"folder": "x", "name": "y"}, **filesystem)
    assert done.error is not None
    assert (done.error["code"], told in done.error["message"]) == ("DEPENDENCY_MISSING", True)
    assert done.error["suggestions"]
    assert done.sandbox is None


def test_a_sessions_folder_lasts_as_long_as_the_session(perform: Perform) -> None:
    write, read = {"folder": "session", "name": "note", "text": "kept"}, {"folder": "session", "name": "note"}
    granted = {"write": ["session"]}
    assert data(perform(write, **granted)) == ["note"]
    assert data(perform(read, **granted)) == "kept"
    assert data(perform({**write, "text": "again"}, **granted)) == ["note"]
    assert data(perform(read, session="another", **granted)) == "FileNotFoundError"
    assert data(perform(read, persona=2, **granted)) == "FileNotFoundError"
    session_end(by=SYSTEM, place=Place(1, "s"))
    assert data(perform(read, **granted)) == "FileNotFoundError"


def test_a_sessions_folder_is_held_to_its_size(perform: Perform, settings: Any) -> None:
    settings.SESSION_FOLDER_BYTES = 1 << 20
    granted = {"write": ["session"]}
    assert data(perform({"folder": "session", "name": "a", "text": "x" * 500_000}, **granted)) == ["a"]
    done = perform({"folder": "session", "name": "b", "text": "x" * 900_000}, **granted)
    assert done.error is not None
    assert (done.error["code"], done.error["details"]["resource"]) == ("RESOURCE_EXCEEDED", "folder")
    session_end(by=SYSTEM, place=Place(1, "s"))
    assert data(perform({"folder": "session", "name": "b", "text": "x"}, **granted)) == ["b"]


NAMELESS = """
import os, sys, time
folder = sys.argv[1]
held = []
for number in range(4):
    held.append(os.open(f"{folder}/file", os.O_CREAT | os.O_RDWR))
    os.unlink(f"{folder}/file")
    os.write(held[-1], b"x" * (1 << 20))
time.sleep(20)
"""
LINKED = """
import os, sys
folder = sys.argv[1]
open(f"{folder}/hole", "wb").truncate(1 << 24)
open(f"{folder}/one", "wb").write(b"x" * 300_000)
os.symlink("/usr", f"{folder}/link")
os.symlink(f"{folder}", f"{folder}/itself")
"""


@pytest.mark.parametrize("level", [Level.ISOLATED, Level.CONFINED])
@pytest.mark.parametrize(("code", "how"), [(NAMELESS, "folder"), (LINKED, "exited")])
def test_of_a_kept_folder_all_that_takes_room_is_counted(
    db: None, tmp_path: Path, level: Level, code: str, how: str
) -> None:
    """Files without a name are; holes, and what links lead to, are not."""
    for each in (tmp_path, *list(tmp_path.parents)[:2]):
        each.chmod(0o755)
    kept = tmp_path / "kept"
    kept.mkdir()
    kept.chmod(0o777)
    launch = Launch(
        argv=[interpreter(), "-I", "-S", "-c", code, "/kept"],
        level=level,
        mounts=[*interpreter_mounts(), Mount(str(kept), "/kept", writable=True, most_bytes=1 << 20)],
    )
    done = sandbox_run(launch, threading.Event())
    assert done.how == how, done


WAITS = """
import os, sys, time
folder = sys.argv[1]
open(f"{folder}/first", "w").write("a")
os.mkdir(f"{folder}/deep")
ends = time.monotonic() + 20
while not os.path.exists(f"{folder}/other") and time.monotonic() < ends:
    time.sleep(0.01)
open(f"{folder}/first", "a").write("b")
open(f"{folder}/deep/second", "w").write("c")
"""
MEETS = """
import os, sys, time
folder = sys.argv[1]
while not os.path.exists(f"{folder}/deep"):
    time.sleep(0.01)
open(f"{folder}/deep/met", "w").write("d")
open(f"{folder}/other", "w").write("e")
"""


@pytest.mark.parametrize("level", [Level.ISOLATED, Level.CONFINED])
def test_two_runs_at_once_have_the_folder_of_their_session(db: None, tmp_path: Path, level: Level) -> None:
    for each in (tmp_path, *list(tmp_path.parents)[:2]):
        each.chmod(0o755)
    kept = tmp_path / "kept"
    kept.mkdir(mode=0o711)
    mounts = [*interpreter_mounts(), Mount(str(kept), "/kept", writable=True, most_bytes=1 << 20)]
    done = []

    def run(code: str) -> None:
        argv = [interpreter(), "-I", "-S", "-c", code, "/kept"]
        done.append(sandbox_run(Launch(argv=argv, level=level, mounts=mounts), threading.Event()))

    first = threading.Thread(target=run, args=(WAITS,))
    first.start()
    while not (kept / "deep").exists() and first.is_alive():
        time.sleep(0.01)
    run(MEETS)
    first.join()
    assert [(each.how, each.exit_code, each.log) for each in done] == [("exited", 0, b"")] * 2
    assert sorted(os.listdir(kept / "deep")) == ["met", "second"]
    run("import sys; print(open(sys.argv[1] + '/first').read())")
    assert done[-1].stdout == b"ab\n"


def test_stale_folders_are_swept(db: None) -> None:
    work = Path(django_settings.DATA) / "sandbox"
    work.mkdir(exist_ok=True)
    (work / "old" / "deep").mkdir(parents=True)
    (work / "new").mkdir()
    ended, kept = session_folder(7, "ended", "p"), session_folder(7, "kept", "p")
    old = time.time() - 3 * 86_400
    for path in (work / "old", Path(ended).parent):
        os.utime(path, (old, old))
    assert stale_sweep(now=True) == 2
    assert (os.path.exists(work / "old"), os.path.exists(work / "new")) == (False, True)
    assert (os.path.exists(ended), os.path.exists(kept)) == (False, True)
    (work / "new").rmdir()


@pytest.mark.parametrize(
    "bad", ["/srv", "A=/srv", "a=srv", "a=/", "session=/srv", "a=/srv:ro", "a=/srv:rw:rw", "a=/../"]
)
def test_what_names_no_folder_is_no_setting(bad: str) -> None:
    with pytest.raises(ValueError, match=r"is not NAME|names the folder|cannot be named"):
        folder_read(bad)


def test_the_doctor_says_which_there_are(folder: Path) -> None:
    said = diagnose().facts["folders"]
    assert said == "reports (read), drop (read and write), gone (read, not there)"
