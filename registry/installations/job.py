"""One installation in the hands of one worker, under a lease: every write asks whether it still holds."""

import logging
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db import DatabaseError, close_old_connections, connection, transaction
from django.db.models import F, Max

from core.clock import lease_boot, lease_now
from core.errors import ToolHubError
from registry.installations.models import Installation, LogLine, Staged, Status
from registry.installations.steps import step_mark

log = logging.getLogger(__name__)
LINES_MAX = 5_000
LINE_MAX = 1000


class LeaseLost(Exception):
    """Another worker has the installation, or it has ended: this one leaves without a word."""


class Job:
    """An installation that this worker holds. `cancelled` is set by a cancel, or with the lease lost."""

    def __init__(self, installation: Installation, token: uuid.UUID) -> None:
        self.installation = installation
        self.token = token
        self.cancelled = threading.Event()
        self._saying = threading.Lock()
        self._lines = installation.lines.aggregate(last=Max("seq"))["last"] or 0

    def write(self, **columns: Any) -> None:
        """Changes the row, while it is ours. Raises LeaseLost."""
        mine = Installation.objects.filter(
            pk=self.installation.pk, lease_token=self.token, status=Status.RUNNING
        )
        if not mine.update(**columns):
            raise LeaseLost
        for name, value in columns.items():
            setattr(self.installation, name, value)

    def leave(self, **columns: Any) -> None:
        """Gives the row out of hand, unless somebody cancelled. Raises LeaseLost, ToolHubError CANCELLED."""
        mine = Installation.objects.filter(
            pk=self.installation.pk, lease_token=self.token, status=Status.RUNNING
        )
        if mine.filter(cancel_asked_at=None).update(lease_token=None, **columns):
            return
        if not mine.exists():
            raise LeaseLost
        self.cancelled.set()
        self.check()

    def say(self, text: str) -> None:
        """Adds a line to the log, while it is ours; without control characters, and at most LINES_MAX.

        May be called from several threads: a program's output and errors come by two.
        """
        shown = "".join(char if char.isprintable() else " " for char in text)[:LINE_MAX]
        one = self.installation
        with self._saying:
            mine = Installation.objects.filter(pk=one.pk, lease_token=self.token)
            if self._lines >= LINES_MAX or not mine.exists():
                return
            self._lines = (one.lines.aggregate(last=Max("seq"))["last"] or 0) + 1
            LogLine.objects.create(installation=one, seq=self._lines, step=one.step, text=shown)

    def check(self) -> None:
        """Raises ToolHubError CANCELLED when somebody cancelled; to be called between pieces of work."""
        if self.cancelled.is_set():
            raise ToolHubError("The installation was cancelled.", code="CANCELLED")

    def step_mark(self, name: str, status: str) -> list[dict[str, Any]]:
        """The list of steps with this one's new status."""
        return step_mark(self.installation.steps, name, status)

    @property
    def content(self) -> bytes:
        """What was given or fetched."""
        return bytes(Staged.objects.get(pk=self.installation.pk).content)


def job_claim(pk: uuid.UUID | None = None) -> Job | None:
    """Takes the oldest queued installation, or the one named; None when there is none."""
    token = uuid.uuid4()
    with transaction.atomic():
        skip = connection.features.has_select_for_update_skip_locked
        rows = Installation.objects.filter(status=Status.QUEUED).order_by("id")
        rows = rows if pk is None else rows.filter(pk=pk)
        row = rows.select_for_update(skip_locked=skip).first()
        if row is None:
            return None
        Installation.objects.filter(pk=row.pk).update(
            status=Status.RUNNING,
            attempt=F("attempt") + 1,
            lease_token=token,
            lease_ends=lease_now() + settings.LEASE_S,
            lease_boot=lease_boot(),
        )
    row.refresh_from_db()
    return Job(row, token)


@contextmanager
def job_held(job: Job) -> Iterator[None]:
    """Keeps the lease while the block runs, and hears of a cancel."""
    stop = threading.Event()
    heart = threading.Thread(target=_beat, args=(job, stop), name="installation heart", daemon=True)
    heart.start()
    try:
        yield
    finally:
        stop.set()
        heart.join(timeout=5)


def _beat(job: Job, stop: threading.Event) -> None:
    mine = Installation.objects.filter(pk=job.installation.pk, lease_token=job.token, status=Status.RUNNING)
    while not stop.wait(min(1.0, settings.LEASE_S / 6)):
        try:
            kept = mine.update(lease_ends=lease_now() + settings.LEASE_S, lease_boot=lease_boot())
            if not kept or mine.filter(cancel_asked_at__isnull=False).exists():
                job.cancelled.set()
        except DatabaseError:
            log.warning("the heartbeat of an installation did not reach the database")
            close_old_connections()
    connection.close()
