"""Whether the hub can write: its database and its data folder. A full disk answers reads."""

import os
import threading
import time
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction
from django.utils import timezone

from audit.models import Event
from core.duties.models import WriteProbe
from execution.models import Run, Status

# For so long a success is used again, however many ask.
KEPT_S = 2.0
# More than the free room of a page, and no compression makes it smaller.
BYTES = 16_384
BUDGET_MS = 2_000
_lock = threading.Lock()
_succeeded: float | None = None


def writable_problem() -> str:
    """Why the hub cannot write; empty if it can, or could within the last KEPT_S."""
    global _succeeded  # noqa: PLW0603 - one answer for the process
    with _lock:
        if _succeeded is not None and time.monotonic() - _succeeded < KEPT_S:
            return ""
        problem = _folder_problem() or _database_problem()
        _succeeded = None if problem else time.monotonic()
        return problem


def writable_forget() -> None:
    """Try anew when asked next."""
    global _succeeded  # noqa: PLW0603
    _succeeded = None


def _folder_problem() -> str:
    file = settings.DATA / f".write-probe-{os.getpid()}"
    try:
        file.write_bytes(os.urandom(BYTES))
        file.unlink()
    except OSError as error:
        file.unlink(missing_ok=True)
        return f"The data folder takes no writes ({error.strerror}): is its disk full?"
    return ""


def _database_problem() -> str:
    try:
        with transaction.atomic():
            if connection.vendor == "postgresql":
                with connection.cursor() as cursor:
                    cursor.execute(f"SET LOCAL statement_timeout = {BUDGET_MS}")
                _tables_try()
            WriteProbe.objects.update_or_create(
                pk=1, defaults={"filler": os.urandom(BYTES), "written_at": timezone.now()}
            )
    except (DatabaseError, InterfaceError) as error:
        if isinstance(error, OperationalError) and "locked" in str(error):
            return ""  # SQLite: somebody else is writing
        return "The database takes no writes: is its disk full?"
    return ""


def _tables_try() -> None:
    """Add an event and a run and take both back: their tables may lie on other disks.

    The event's id is given, because the sequence would leave a gap in the ledger.
    """
    filler = os.urandom(BYTES).hex()
    with transaction.atomic():
        Event.objects.create(pk=0, at=timezone.now(), kind="probe", canonical=filler, leaf=bytes(32))
        Run.objects.create(
            pk=UUID(int=0),
            persona_id=0,
            tool_version_id=0,
            tool="probe",
            queue="probe",
            status=Status.PENDING,
            arguments={"filler": filler},
            arguments_hash=bytes(32),
            salt=bytes(16),
            timeout_ms=0,
            max_output_bytes=0,
        )
        transaction.set_rollback(True)
