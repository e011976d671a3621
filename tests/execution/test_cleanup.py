"""Cleanup: what a finished run left on disk goes; the run, its audit and everybody else's files stay."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit.models import Event
from execution.models import Run, Status

pytestmark = pytest.mark.django_db
Post = Callable[..., Any]


@pytest.fixture
def data(settings: Any, tmp_path: Path) -> Path:
    settings.DATA = tmp_path / "data"
    (settings.DATA / "work").mkdir(parents=True)
    return Path(settings.DATA)


@pytest.fixture
def run(make_run: Callable[..., Run]) -> Run:
    return make_run(status=Status.COMPLETED, result=1)


def cleaned_up(run: Run) -> int:
    return Event.objects.filter(kind="run.cleaned_up", run_id=run.pk).count()


def test_the_work_folder_goes_and_the_run_stays(post: Post, run: Run, data: Path) -> None:
    folder = data / "work" / str(run.pk)
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "file").write_text("x")
    other = data / "work" / "other"
    other.mkdir()
    answers = [post(run.pk, "cleanup") for _ in range(2)]
    assert [(answer.status_code, answer.json()) for answer in answers] == [(200, {"cleaned": True})] * 2
    assert not folder.exists()
    assert other.is_dir()
    assert Run.objects.get(pk=run.pk).result == 1
    assert cleaned_up(run) == 1


def test_without_a_folder_there_is_nothing_to_do(post: Post, run: Run, data: Path) -> None:
    assert post(run.pk, "cleanup").json() == {"cleaned": True}
    assert cleaned_up(run) == 0


@pytest.mark.parametrize("where", ["the folder", "inside"])
def test_a_link_is_removed_and_not_followed(post: Post, run: Run, data: Path, where: str) -> None:
    outside = data.parent / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    folder = data / "work" / str(run.pk)
    if where == "inside":
        folder.mkdir()
        (folder / "link").symlink_to(outside)
    else:
        folder.symlink_to(outside)
    assert post(run.pk, "cleanup").status_code == 200
    assert not folder.is_symlink()
    assert not folder.exists()
    assert (outside / "kept").read_text() == "x"


def test_a_running_run_keeps_its_folder(post: Post, make_run: Callable[..., Run], data: Path) -> None:
    run = make_run(status=Status.RUNNING)
    folder = data / "work" / str(run.pk)
    folder.mkdir()
    assert post(run.pk, "cleanup").status_code == 409
    assert folder.is_dir()
