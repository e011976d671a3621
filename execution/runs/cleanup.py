"""Removing what a finished run left on disk. The run and its audit stay."""

import shutil
from pathlib import Path

from django.conf import settings
from django.db import transaction

from audit.ledger import Entry, record
from core.actors import Actor
from execution.engine.selectors import finished_require
from execution.event_kinds import RUN_CLEANED_UP
from execution.features.artefacts.services import artefacts_remove
from execution.models import Run


def work_folder(run: Run) -> Path:
    """Where a run's tool may leave files: `$TOOLHUB_DATA/work/{run id}`."""
    return Path(settings.DATA) / "work" / str(run.pk)


def run_cleanup(*, by: Actor, run: Run) -> None:
    """Removes the files that the run left, and its work folder if it is there; the same twice.

    A link that stands in the folder's place is removed and not followed. Raises ToolHubError (409)
    while the run has no outcome.
    """
    finished_require(run)
    folder = work_folder(run)
    is_there = folder.is_symlink() or folder.exists()
    with transaction.atomic():
        if not artefacts_remove([run.pk]) and not is_there:
            return
        record(Entry(RUN_CLEANED_UP, by, "tool", run.tool, {}, run.pk))
        # Last in the transaction: what cannot be removed takes the event back.
        if not is_there:
            return
        if folder.is_symlink() or not folder.is_dir():
            folder.unlink(missing_ok=True)
        else:
            shutil.rmtree(folder)
