"""What an operator does at a terminal."""

import contextlib
import os
import sqlite3
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection

from audit.models import Event
from registry.installations.models import Installation, Status
from registry.installations.worker import installations_work
from registry.management.commands import package_install
from registry.models import Package, Release, Tool
from registry.releases.selectors import release_zip
from tests.installations import packages
from tests.migrated import migrated_copy

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., str]:
    """Writes a package into a folder; gives its path."""

    def make(version: str = "1.0.0", **changes: object) -> str:
        made = tmp_path / version
        made.mkdir()
        for path, content in packages.files(version, **changes).items():  # type: ignore[arg-type]
            (made / path).write_bytes(content)
        return str(made)

    return make


def said(*words: str) -> str:
    out = StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def test_a_folder_is_installed_once(folder: Callable[..., str]) -> None:
    here = folder()
    text = said("package_install", here, "--yes")
    assert "greetings 1.0.0" in text
    assert "greet  pure, isolation strict" in text
    assert Release.objects.get().origin["type"] == "folder"
    with pytest.raises(CommandError, match="installed already"):
        said("package_install", here, "--yes")
    assert Event.objects.get(kind="release.published").actor_kind == "system"


def test_what_is_neither_there_nor_an_address_is_told_so(tmp_path: Path) -> None:
    for missing in (str(tmp_path / "gone.zip"), "dist/gone.zip"):
        with pytest.raises(CommandError, match=r"There is no folder or file .*gone\.zip"):
            said("package_install", missing, "--yes")
    assert not Installation.objects.exists()


def test_a_worker_that_is_quicker_is_followed_to_the_end(
    folder: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    workers: list[threading.Thread] = []

    def taken(pk: uuid.UUID) -> None:
        """A worker takes up whatever is queued, before the command can."""
        if Installation.objects.filter(status=Status.QUEUED).exists():
            workers.append(threading.Thread(target=work))
            workers[-1].start()
            workers[-1].join()

    def work() -> None:
        try:
            installations_work()
        finally:
            connection.close()

    monkeypatch.setattr(package_install, "job_claim", taken)
    text = said("package_install", folder(), "--yes")
    assert "greet  pure, isolation strict" in text
    assert "greetings 1.0.0 is installed" in text
    assert len(workers) == 2, "to the review, and to the end"
    assert Release.objects.count() == 1


def test_a_zip_is_installed_and_one_that_lacks_something_says_where(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.zip", tmp_path / "bad.zip"
    good.write_bytes(packages.zipped())
    bad.write_bytes(packages.zipped("1.1.0", description=None, runtime=None))
    said("package_install", str(good), "--yes", "--reviewed")
    assert Release.objects.get().is_reviewed
    with pytest.raises(CommandError, match="/runtime"):
        said("package_install", str(bad), "--yes")


def test_one_bad_tool_of_three_registers_none(folder: Callable[..., str]) -> None:
    bad = packages.tool("third")
    bad["inputSchema"]["type"] = "array"
    here = folder(tools=[packages.tool("first"), packages.tool("second"), bad])
    with pytest.raises(CommandError, match="/tools/2/inputSchema/type"):
        said("package_install", here, "--yes")
    assert not Tool.objects.exists()


def test_a_no_at_the_review_leaves_nothing(
    folder: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", lambda prompt: "n")
    with pytest.raises(CommandError, match="Not installed"):
        said("package_install", folder())
    assert Installation.objects.get().status == "cancelled"
    assert not Package.objects.exists()


def test_a_link_in_a_folder_is_refused(folder: Callable[..., str]) -> None:
    here = Path(folder())
    (here / "passwd").symlink_to("/etc/passwd")
    with pytest.raises(CommandError, match="link"):
        said("package_install", str(here), "--yes")


def test_back_to_an_older_release_and_out(folder: Callable[..., str]) -> None:
    for version in ("1.0.0", "1.1.0"):
        said("package_install", folder(version), "--yes")
    told = "greetings 1.0.0 is in use. Rolled back from 1.1.0.\n"
    assert said("release_activate", "greetings", "1.0.0") == told
    assert Tool.objects.select_related("active").get(name="greet").active.version == "1.0.0"  # type: ignore[union-attr]
    with pytest.raises(CommandError, match="no release"):
        said("release_activate", "greetings", "9.9.9")
    assert "is uninstalled" in said("package_uninstall", "greetings")
    with pytest.raises(CommandError, match="not installed"):
        said("package_uninstall", "greetings")


def test_what_a_hub_gives_away_another_hub_installs_as_the_same_release(
    folder: Callable[..., str], tmp_path: Path
) -> None:
    said("package_install", folder(), "--yes")
    release = Release.objects.get()
    zipped = tmp_path / "greetings.zip"
    zipped.write_bytes(release_zip(release))
    other = {name: value for name, value in os.environ.items() if not name.startswith("TOOLHUB_")}
    other["TOOLHUB_DATA"] = str(tmp_path / "other")
    database = tmp_path / "other" / "toolhub.sqlite3"
    migrate = [] if migrated_copy(database) else [("migrate",)]
    for words in (*migrate, ("package_install", str(zipped), "--yes")):
        command = [sys.executable, str(settings.ROOT / "manage.py"), *words]
        subprocess.run(command, env=other, check=True, capture_output=True)
    with contextlib.closing(sqlite3.connect(database)) as its:
        found = its.execute(
            "SELECT digest FROM registry_release JOIN registry_package AS package ON package_id = package.id"
            " WHERE package.name = 'greetings'"
        )
        assert found.fetchall() == [(release.digest,)]
