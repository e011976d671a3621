"""Files that a tool leaves: taken without following anything, kept with the run, downloaded, removed."""

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit.models import Event
from execution.engine.expiry import payloads_expire
from execution.engine.selectors import first_id_at
from execution.features.artefacts import services
from execution.features.artefacts.models import Artefact, Content
from execution.features.artefacts.services import artefacts_keep, artefacts_remove, contents_expire
from execution.models import Run, Status
from registry.services import assignment_create
from security.models import Persona, User
from security.sandbox.levels import Level
from tests.execution.fixtures import fx, make_run
from tests.processes import Processes
from tests.sandbox.conftest import Run as RunCode
from tests.sandbox.packages import publish, tool_of
from tests.workers.conftest import hub, standing

pytestmark = pytest.mark.sandbox
__all__ = ["fx", "hub", "make_run", "standing"]
LEAVES = """
import os, sys
os.mkdir("artefacts")
os.chdir("artefacts")
open("report.txt", "w").write("made")
open("empty", "w")
os.symlink("/etc/passwd", "link")
os.symlink("report.txt", "near")
os.mkfifo("pipe")
os.mkdir("folder")
os.link("report.txt", "second")
os.unlink("second")
open("twice", "w").write("x")
os.link("twice", "other-name")
open("large", "w").truncate(1 << 40)
open("bell\\a", "w")
open(b"\\xff", "w")
"""
EVERY = pytest.mark.parametrize("level", [Level.ISOLATED, Level.CONFINED])


@pytest.mark.parametrize(
    ("level", "forked"), [(Level.ISOLATED, False), (Level.ISOLATED, True), (Level.CONFINED, False)]
)
def test_plain_files_are_taken_and_nothing_else(level: Level, forked: bool, run: RunCode) -> None:
    code = f"import sys; sys.stdin.read()\n{LEAVES}"
    done = run(level, code.replace("1 << 40", "1 << 23"), forked=forked, artefact_bytes=1 << 20)
    assert done.how == "exited", done
    assert done.files == [("empty", b""), ("report.txt", b"made")]
    assert dict(done.skipped) == {
        "bell\a": "its name is not plain text, or too long",
        "?": "its name is not plain text, or too long",
        "folder": "it is no plain file",
        "large": f"{1 << 23} bytes are too many",
        "link": "system call 437: Too many levels of symbolic links",
        "near": "system call 437: Too many levels of symbolic links",
        "pipe": "it is no plain file",
        "other-name": "it has a second name",
        "twice": "it has a second name",
    }


@EVERY
@pytest.mark.parametrize(
    "trick",
    [
        "os.symlink('/etc', 'artefacts')",
        "os.symlink('..', 'artefacts')",
        "open('artefacts', 'w').write('x')",
        "os.mkfifo('artefacts')",
    ],
)
def test_a_folder_that_is_none_gives_nothing(level: Level, trick: str, run: RunCode) -> None:
    done = run(level, f"import os\n{trick}")
    assert (done.how, done.files, list(done.skipped)) == ("exited", [], [])


def test_count_and_size_are_bounded(run: RunCode) -> None:
    code = """
import os
os.mkdir("artefacts")
for number in range(6):
    open(f"artefacts/{number}", "w").write("x" * 400)
"""
    done = run(Level.ISOLATED, code, artefacts=4, artefact_bytes=1000)
    assert [name for name, _ in done.files] == ["0", "1"]
    assert [why for _, why in done.skipped] == ["400 bytes are too many"] * 2 + ["more than 4 files"] * 2


def test_what_was_stopped_leaves_nothing(run: RunCode) -> None:
    code = "import os, time; os.mkdir('artefacts'); open('artefacts/a', 'w').write('x'); time.sleep(60)"
    done = run(Level.ISOLATED, code, wall_s=0.7)
    assert (done.how, done.files) == ("timeout", [])


TOOL = '''
import os
from pathlib import Path
from typing import Annotated, Any

from toolhub_sdk import Field, tool

Any_ = Annotated[Any, Field(description="Anything.")]

@tool(name="file_make")
def make(files: Any_) -> Any:
    """Leaves files."""
    os.mkdir("artefacts")
    for name, text in files.items():
        Path("artefacts", name).write_text(text)
    os.symlink("/etc/passwd", "artefacts/link")
    return len(files)
'''


@pytest.mark.broker
@pytest.mark.timeout(180)
def test_files_are_kept_shown_downloaded_and_removed(
    hub: Processes, admin: User, persona: Persona, call: Any, client: Client, token_text: str
) -> None:
    manifest = {
        "name": "files",
        "version": "1.0.0",
        "runtime": {"type": "python", "entry": "files"},
        "tools": [tool_of("file_make", "make", sideEffects="impure")],
    }
    assignment_create(
        by=admin, persona=persona, package=publish(manifest, {"files.py": TOOL.encode()}).package
    )
    hub.worker()
    text = "<script>alert(1)</script>\u00e4"
    answer = call("file_make", {"files": {"r\u00e9port.html": text, "b": ""}}, HTTP_PREFER="wait=60").json()
    digest = hashlib.sha256(text.encode()).hexdigest()
    listed = {"name": "r\u00e9port.html", "size": len(text.encode()), "sha256": digest}
    assert answer["metadata"]["artefacts"][1] == listed
    assert any("link was not kept" in warning for warning in answer["metadata"]["warnings"])
    run = Run.objects.get(pk=answer["metadata"]["run_id"])
    assert (
        json.loads(Event.objects.get(kind="run.outcome").canonical)["data"]["sandbox"]["artefacts"][1]
        == listed
    )
    assert run.events.filter(kind="ARTEFACTS_KEPT").exists()

    address, who = f"/api/v1/runs/{run.pk}/artefacts", {"HTTP_AUTHORIZATION": f"Bearer {token_text}"}
    assert client.get(address, **who).json()["artefacts"][1] == listed
    got = client.get(f"{address}/r\u00e9port.html", **who)
    assert (got.status_code, got.content, got["ETag"]) == (200, text.encode(), f'"{digest}"')
    assert got["Content-Type"] == "application/octet-stream"
    assert got["Content-Disposition"].startswith("attachment; filename")
    assert got["X-Content-Type-Options"] == "nosniff"
    assert client.get(f"{address}/link", **who).status_code == 404
    assert client.get(address).status_code == 401
    page = f"/runs/{run.pk}/"
    assert client.get(f"{page}artefacts/b").status_code == 302
    client.force_login(admin)
    assert "port.html</a>" in client.get(page).content.decode()
    assert client.get(f"{page}artefacts/b")["Content-Disposition"].startswith("attachment")
    assert client.get(f"{page}artefacts/c").status_code == 404

    for _ in range(2):
        assert client.post(f"/api/v1/runs/{run.pk}/cleanup", **who).json() == {"cleaned": True}
    assert client.get(f"{address}/b", **who).status_code == 404
    assert client.get(address, **who).json() == {"artefacts": []}
    assert Event.objects.filter(kind="run.cleaned_up").count() == 1


def test_the_same_bytes_are_kept_once_and_go_with_the_last_run(
    make_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = make_run(), make_run()
    artefacts_keep(one.pk, [("a", b"same"), ("b", b"same"), ("c", b"own")])
    artefacts_keep(two.pk, [("a", b"same")])
    assert (Content.objects.count(), Artefact.objects.count()) == (2, 4)
    monkeypatch.setattr(services, "YOUNG", timedelta(0))
    assert contents_expire() == 0
    artefacts_remove([one.pk])
    assert list(Artefact.objects.values_list("run", flat=True)) == [two.pk]
    assert contents_expire() == 1
    assert bytes(Content.objects.get().content) == b"same"
    artefacts_remove([two.pk])
    assert (contents_expire(), Content.objects.count()) == (1, 0)


def test_files_go_with_the_payload(make_run: Callable[..., Run]) -> None:
    old = timezone.now() - timedelta(days=100)
    run = make_run(status=Status.COMPLETED, id=first_id_at(old), completed_at=old)
    artefacts_keep(run.pk, [("a", b"x")])
    assert payloads_expire(timezone.now() - timedelta(days=90)) == 1
    assert not run.artefacts.exists()
