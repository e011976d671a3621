"""When duties last succeeded and failed, written as rarely as it can be."""

import time
from contextlib import suppress

from django.db import DatabaseError, InterfaceError
from django.utils import timezone

from core.duties.models import DutyRecord
from core.duties.rows import error_text

# A duty that goes well is written so often.
EVERY_S = 30.0


class Journal:
    """Of one steward. A database that is away is no error here: the next success is written again."""

    def __init__(self) -> None:
        self._written: dict[str, float] = {}

    def succeeded(self, name: str) -> None:
        """A duty has succeeded."""
        if time.monotonic() - self._written.get(name, -EVERY_S) >= EVERY_S:
            self._write(name, succeeded_at=timezone.now())
            self._written[name] = time.monotonic()

    def failed(self, name: str, error: Exception) -> None:
        """A duty has failed; its next success is written at once."""
        self._written.pop(name, None)
        self._write(name, failed_at=timezone.now(), error=error_text(error))

    def _write(self, name: str, **changes: object) -> None:
        with suppress(DatabaseError, InterfaceError):
            DutyRecord.objects.update_or_create(name=name, defaults=changes)
