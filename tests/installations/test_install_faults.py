"""Workers die, disks fill, two come at once, somebody cancels: one end, nothing half-installed, no failed call."""

import json
import os
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from core.actors import SYSTEM
from registry.installations.approval import installation_approve
from registry.installations.models import Installation, Staged
from registry.installations.services import installation_cancel, installation_start
from registry.installations.source_form import Source
from registry.installations.worker import installations_work
from registry.models import Archive, Package, Release, Tool
from registry.releases.activation import release_activate
from registry.services import assignment_create
from security.models import Persona, User
from tests.faults.conftest import INSTALL_STEPS, Deaths, deaths, missing
from tests.installations import packages
from tests.installations.git_server import repository
from tests.processes import Processes, running, wait_for

__all__ = ["deaths"]
pytestmark = [pytest.mark.faults]
UPLOAD = Source("upload", "greetings.zip")


@pytest.fixture
def hub(transactional_db: None) -> Iterator[Processes]:
    yield from running()


def status_of(one: Installation) -> str:
    return Installation.objects.values_list("status", flat=True).get(pk=one.pk)


def approved(one: Installation) -> None:
    wait_for(lambda: status_of(one) in {"awaiting_review", "failed"}, 60)
    one.refresh_from_db()
    installation_approve(by=SYSTEM, installation=one, digest=one.digest)


@pytest.mark.timeout(400)
def test_a_worker_that_dies_in_a_step_leaves_it_to_the_next(
    hub: Processes, deaths: Deaths, subtests: pytest.Subtests
) -> None:
    hub.worker(**deaths.env)
    hub.steward()
    for number, step in enumerate(INSTALL_STEPS):
        with subtests.test(step=step):
            deaths.arm(f"install.{step}")
            content = packages.zipped(f"1.{number}.0")
            one = installation_start(by=SYSTEM, source=UPLOAD, content=content)
            approved(one)
            deaths.await_death(f"install.{step}")
            wait_for(lambda one=one: status_of(one) not in {"queued", "running"}, 60)
            one.refresh_from_db()
            assert one.status == "published", one.error
            assert Release.objects.filter(package__name="greetings").count() == number + 1
            assert not Staged.objects.exists()


def test_of_two_at_once_one_is_installed_and_the_other_hears_so(hub: Processes) -> None:
    hub.worker(concurrency=2)
    hub.steward()
    both = [installation_start(by=SYSTEM, source=UPLOAD, content=packages.zipped()) for _ in range(2)]
    for one in both:
        wait_for(lambda one=one: status_of(one) == "awaiting_review", 60)
    for one in both:
        approved(one)
    wait_for(lambda: all(status_of(one) in {"published", "failed"} for one in both), 60)
    ends = sorted(Installation.objects.values_list("status", flat=True))
    assert ends == ["failed", "published"]
    assert Installation.objects.get(status="failed").error["code"] == "ALREADY_REGISTERED"
    assert Release.objects.filter(package__name="greetings").count() == 1


def test_a_cancel_is_heard_in_the_midst_of_a_step_and_leaves_nothing(hub: Processes) -> None:
    hub.worker()
    hub.steward()
    slow = "import time\n" + packages.GREET.replace("    return", "    time.sleep(60)\n    return")
    long = {"resourceBounds": {"timeoutMs": 120_000}}
    content = packages.zipped(code=slow, tools=[packages.tool(**long)])
    one = installation_start(by=SYSTEM, source=UPLOAD, content=content)
    approved(one)
    wait_for(lambda: Installation.objects.get(pk=one.pk).step == "self_test", 60)
    installation_cancel(by=SYSTEM, installation=one)
    asked = time.monotonic()
    wait_for(lambda: status_of(one) == "cancelled", 60)
    assert time.monotonic() - asked < 30
    assert not Staged.objects.exists()
    assert not Archive.objects.exists()
    assert not Package.objects.filter(name="greetings").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with 64 KiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    if os.getuid() != 0:
        missing("Only root can mount a small disk.")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.django_db(transaction=True)
def test_on_a_full_disk_it_fails_says_so_and_goes_on_when_there_is_room(
    admin: User, small_disk: Path, settings: Any, tmp_path: Path
) -> None:
    large = packages.zip_write({**packages.files(), "data.bin": os.urandom(300_000)})
    one = installation_start(by=admin, source=UPLOAD, content=large)
    installations_work()
    one.refresh_from_db()
    data = settings.DATA
    settings.DATA = small_disk
    installation_approve(by=admin, installation=one, digest=one.digest)
    installations_work()
    one.refresh_from_db()
    assert (one.status, one.step, one.error["code"]) == ("failed", "self_test", "RESOURCE_EXCEEDED")
    assert not list((small_disk / "releases").iterdir())
    settings.DATA = data
    Installation.objects.filter(pk=one.pk).update(status="queued", error=None)
    installations_work()
    one.refresh_from_db()
    assert one.status == "published", one.error


@pytest.mark.django_db(transaction=True)
def test_a_disk_that_fills_while_it_fetches_or_prepares_is_told_and_leaves_nothing(
    admin: User, small_disk: Path, settings: Any, tmp_path: Path
) -> None:
    files = {**packages.files(runtime={"type": "python", "entry": "greetings", "requires": "r.txt"})}
    files["r.txt"] = b"humanize==4.11.0\n"
    one = installation_start(by=admin, source=UPLOAD, content=packages.zip_write(files))
    installations_work()
    one.refresh_from_db()
    installation_approve(by=admin, installation=one, digest=one.digest)
    repository(tmp_path / "r", {**files, "data.bin": os.urandom(300_000)})
    settings.GIT_FILES = True
    other = installation_start(by=admin, source=Source("git", f"file://{tmp_path / 'r'}"))
    settings.DATA = small_disk
    installations_work()
    for each, step in ((one, "prepare"), (other, "fetch")):
        each.refresh_from_db()
        assert (each.status, each.step, each.error["code"]) == ("failed", step, "RESOURCE_EXCEEDED"), (
            each.error
        )
    assert [path for path in small_disk.glob("*/*") if path.name.startswith(".")] == []


def test_a_worker_sweeps_what_a_killed_one_left_on_its_machine(hub: Processes, settings: Any) -> None:
    left = settings.DATA / "fetching" / ".git-left"
    left.mkdir(parents=True, exist_ok=True)
    (left / "key").write_text("secret")
    os.utime(left, (0, time.time() - 120))
    (settings.DATA / "folders.lock").unlink(missing_ok=True)
    hub.worker()
    wait_for(lambda: not left.exists(), 60)


def test_a_worker_killed_in_the_midst_of_a_fetch_leaves_its_key_to_be_swept(
    transactional_db: None, settings: Any
) -> None:
    settings.HTTP_ALLOW = ["127.0.0.1"]
    key = "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----"
    given = {"TOOLHUB_HTTP_ALLOW": "127.0.0.1", "TOOLHUB_GIT_SSH_KEY": key}
    with socket.create_server(("127.0.0.1", 0)) as silent, contextmanager(running)(**given) as hub:
        worker = hub.worker()
        location = f"ssh://git@127.0.0.1:{silent.getsockname()[1]}/r.git"
        installation_start(by=SYSTEM, source=Source("git", location))
        # Once git has called, nothing more is made in the folder: its age is what the test sets.
        silent.settimeout(60)
        silent.accept()[0].close()
        (left,) = (settings.DATA / "fetching").glob(".git-*/key")
        hub.kill(worker)
        assert left.read_text().strip() == key
        os.utime(left.parent, (0, time.time() - 120))
        os.utime(settings.DATA / "folders.lock", (0, time.time() - 120))
        hub.worker()
        wait_for(lambda: not left.parent.exists(), 60)


def test_a_roll_back_under_load_fails_no_call(
    hub: Processes, admin: User, persona: Persona, token_text: str
) -> None:
    for version in ("1.0.0", "1.1.0"):
        one = installation_start(by=SYSTEM, source=UPLOAD, content=packages.zipped(version))
        installations_work()
        one.refresh_from_db()
        installation_approve(by=SYSTEM, installation=one, digest=one.digest)
        installations_work()
    package = Package.objects.get(name="greetings")
    assignment_create(by=admin, persona=persona, package=package)
    hub.worker(concurrency=2)
    hub.steward()
    _, address = hub.web()
    answers: list[Any] = []
    over = threading.Event()

    def calls() -> None:
        while not over.is_set():
            request = urllib.request.Request(
                f"{address}/api/v1/tools/greet/execute",
                json.dumps({"arguments": {"name": "Ada"}}).encode(),
                {"Authorization": f"Bearer {token_text}"},
            )
            with urllib.request.urlopen(request, timeout=60) as answer:
                answers.append(json.loads(answer.read()))

    callers = [threading.Thread(target=calls) for _ in range(2)]
    for caller in callers:
        caller.start()
    releases = list(package.releases.order_by("pk"))
    for turn in range(6):
        seen = len(answers)
        release_activate(by=admin, release=releases[turn % 2])
        wait_for(lambda seen=seen: len(answers) > seen + 1, 60)
    over.set()
    for caller in callers:
        caller.join(60)
    assert all(answer["success"] for answer in answers), [a for a in answers if not a["success"]]
    assert {answer["metadata"]["version"] for answer in answers} == {"1.0.0", "1.1.0"}
    assert Tool.objects.get(name="greet").active_id is not None
