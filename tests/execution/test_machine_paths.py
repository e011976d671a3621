"""Callers read no path of the machine in what a tool prints, logs or fails with."""

import sys
import sysconfig
import traceback
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from execution.runners.machine_paths import paths_hidden
from execution.runners.perform import call_run
from tests.sandbox.packages import box_publish
from tests.sandbox.test_printed import call_of

FOLDERS = (str(settings.ROOT), str(settings.DATA), sys.prefix, sysconfig.get_path("stdlib"))


def test_a_traceback_names_no_folder_of_the_hub() -> None:
    try:
        Path(settings.DATA, "work", "x").read_text(encoding="nonsense")
    except (LookupError, OSError):
        text = traceback.format_exc()
    hidden = paths_hidden({"printed": [text, sysconfig.get_path("purelib") + "/django/x.py"]})["printed"]
    assert any(folder in text for folder in FOLDERS)
    assert not any(folder in part for folder in FOLDERS for part in hidden)
    assert 'File "<hub>/tests/execution/test_machine_paths.py"' in hidden[0]
    assert hidden[1] == "<site-packages>/django/x.py"


def test_other_paths_stay() -> None:
    root = str(settings.ROOT)
    for text in (f"{root}-other/x", "/usr/bin/env", "/toolhub/package/box.py", "no path"):
        assert paths_hidden(text) == text


@pytest.mark.sandbox
@pytest.mark.django_db
def test_a_mistake_in_a_sandbox_prints_none() -> None:
    box_publish()
    heard: list[Any] = []
    call = call_of("box_fail", heard)
    call.arguments = {"how": "mistake"}
    outcome = call_run(call)
    said = str([outcome.error, outcome.notes, heard]) if hasattr(outcome, "notes") else str([outcome, heard])
    assert "Traceback" in said
    assert not [folder for folder in FOLDERS if f"{folder}/" in said]
