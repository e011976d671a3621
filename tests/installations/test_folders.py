"""What killed processes left in a machine's folders, and what no release uses, goes; the rest stays."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.errors import ToolHubError
from execution.engine.call import Call
from execution.models import Status
from execution.runners.perform import call_run
from registry import environment_calls, scratch, store
from registry.environments import environment_name, environment_place
from registry.installations import folders
from registry.installations.folders import folders_tidy, folders_tidy_in_turn
from registry.models import Package, Release, Tool
from registry.releases.uninstall import package_uninstall
from registry.store import release_folder
from security.models import User
from tests.installations import packages
from tests.installations.conftest import Install

HOLDS = """
import sys, time
from pathlib import Path
from registry.scratch import scratch
with scratch(Path(sys.argv[1]), "git") as folder:
    (folder / "key").write_text("secret")
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def data(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders of this test alone, of which nothing is too young to be looked at."""
    settings.DATA = tmp_path
    monkeypatch.setattr(scratch, "SETTLED_S", 0.0)
    monkeypatch.setattr(folders, "KEPT_S", 0.0)
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["fetching", "releases", "environments"])
def test_a_folder_is_let_alone_while_its_process_lives_and_swept_when_it_was_killed(
    data: Path, name: str
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(data / name)], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    assert folders_tidy() == 0
    assert len(names(data / name)) == 1
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert folders_tidy() == 1
    assert names(data / name) == []


def test_a_new_folder_is_let_alone_before_it_is_locked(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "SETTLED_S", 60.0)
    (data / "fetching" / ".git-x").mkdir(parents=True)
    assert scratch.scratch_sweep(data / "fetching") == 0
    os.utime(data / "fetching" / ".git-x", (0, time.time() - 61))
    assert scratch.scratch_sweep(data / "fetching") == 1


@pytest.mark.django_db(transaction=True)
def test_releases_and_environments_that_nothing_uses_go_from_each_machine(
    data: Path, admin: User, install: Install, settings: Any
) -> None:
    one = install()
    release = one.release
    assert release is not None
    Release.objects.filter(pk=release.pk).update(lock="humanize==4.11.0\n")
    settings.DATA = data / "other"
    release_folder(release)
    used, unused = environment_place("humanize==4.11.0\n"), environment_place("rich==13.0\n")
    for folder in (used, unused):
        (folder / "deep").mkdir(parents=True)
    assert folders_tidy() == 1
    assert names(data / "other" / "environments") == [environment_name("humanize==4.11.0\n")]
    settings.DATA = data
    package_uninstall(by=admin, package=Package.objects.get(name="greetings"))
    settings.DATA = data / "other"
    assert names(data / "other" / "releases") == [release.digest]
    assert folders_tidy() == 2
    assert names(data / "other" / "releases") == names(data / "other" / "environments") == []


@pytest.mark.django_db(transaction=True)
def test_what_a_failed_installation_may_go_on_with_stays(data: Path, install: Install) -> None:
    one = install(code=packages.GREET.replace("Hello", "Bye"))
    assert (one.status, one.step) == ("failed", "self_test")
    assert names(data / "releases") == [one.digest]
    assert folders_tidy() == 0


@pytest.mark.django_db
def test_of_a_machines_processes_one_tidies_at_a_time(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    monkeypatch.setattr(folders, "folders_tidy", lambda: looks.append("look") or 1)
    assert [folders_tidy_in_turn() for _ in range(3)] == [1, 0, 0]
    os.utime(data / "folders.lock", (0, time.time() - folders.EVERY_S - 1))
    assert folders_tidy_in_turn() == 1
    assert len(looks) == 2


@pytest.fixture
def greet(install: Install) -> Callable[..., Call]:
    """A call of an installed tool that needs an environment."""
    assert install().status == "published"

    def make(timeout_ms: int = 5000) -> Call:
        version = Tool.objects.select_related("active__release__package").get(name="greet").active
        assert version is not None
        version.release.lock = "humanize==4.11.0\n"
        return Call(
            *(version.release_id, "greet", "python", version, {"name": "Ada"}, {}),  # type: ignore[arg-type]
            attempt=1,
            timeout_ms=timeout_ms,
            max_output_bytes=1000,
            inline=False,
        )

    return make


@pytest.mark.django_db(transaction=True)
def test_a_call_waits_for_its_environment_no_longer_than_a_start_may_take_and_a_later_one_finds_it(
    data: Path, greet: Callable[..., Call], monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.START_MAX_S = 1
    go = threading.Event()

    def slow(lock: str, **_: Any) -> Path:
        go.wait(60)
        environment_place(lock).mkdir(parents=True)
        return environment_place(lock)

    monkeypatch.setattr(environment_calls, "environment_build", slow)
    began = time.monotonic()
    outcome = call_run(greet(timeout_ms=300))
    assert time.monotonic() - began < 10
    assert outcome.error is not None
    assert (outcome.error["code"], outcome.error["retryable"]) == ("DEPENDENCY_MISSING", True)
    assert "nothing of it was run" in outcome.error["suggestions"][0]
    cancelled = greet()
    cancelled.cancelled.set()
    assert call_run(cancelled).status is Status.CANCELLED
    go.set()
    settings.START_MAX_S = 30
    assert call_run(greet(timeout_ms=20_000)).data == "Hello, Ada!"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("failing", ["environment", "release"])
@pytest.mark.parametrize(("number", "code"), [(28, "RESOURCE_EXCEEDED"), (5, "INTERNAL")])
def test_a_disk_that_fails_is_told_as_an_error_of_the_hub(
    data: Path,
    greet: Callable[..., Call],
    monkeypatch: pytest.MonkeyPatch,
    failing: str,
    number: int,
    code: str,
) -> None:
    def fails(*_: Any, **__: Any) -> Path:
        raise OSError(number, "the disk says no")

    call = greet()
    if failing == "environment":
        monkeypatch.setattr(environment_calls, "environment_build", fails)
    else:
        environment_place(call.version.release.lock).mkdir(parents=True)
        package_folder = data / "releases" / call.version.release.digest
        store.release_folder_remove(package_folder.name)
        monkeypatch.setattr(store, "folder_make", fails)
    outcome = call_run(call)
    assert outcome.error is not None
    assert (outcome.status, outcome.error["code"]) == (Status.FAILED, code)
    assert outcome.error["retryable"] is True
    assert "disk says" not in str(outcome.error)


def test_an_environment_that_cannot_be_had_says_why(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any, **__: Any) -> Path:
        raise ToolHubError("There is no such package.", code="DEPENDENCY_MISSING")

    monkeypatch.setattr(environment_calls, "environment_build", missing)
    release = Release(lock="x==1\n")
    with pytest.raises(ToolHubError) as refused:
        environment_calls.environment_folder(release, seconds=5, cancelled=threading.Event())
    assert refused.value.message == "There is no such package."
