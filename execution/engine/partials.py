"""What a tool tells while it works: parts of a result, prints, logs; in order, readable at once, capped."""

import logging
from collections.abc import Mapping
from typing import Any

from django.db import Error, close_old_connections, transaction

from core.json.canonical import canonical
from execution.engine.events import event_add
from execution.engine.lease import Lease
from execution.engine.notices import run_wake
from execution.models import Run, Status
from execution.run_events import PROGRESS
from toolhub_sdk import ToolError

log = logging.getLogger(__name__)
COUNT_MAX = 1_000
BYTES_MAX = 1_048_576


class Partials:
    """Takes the parts of one attempt. Over 1,000 parts or 1 MiB the tool gets a ToolError."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self._count = 0
        self._bytes = 0

    def add(self, partial: Any) -> None:
        """Stores a part, if the lease still holds; what comes later than the lease is dropped."""
        self._count += 1
        self._bytes += len(canonical(partial))
        if self._count > COUNT_MAX or self._bytes > BYTES_MAX:
            raise ToolError(
                "RESOURCE_EXCEEDED",
                f"A tool may emit {COUNT_MAX} parts and {BYTES_MAX} bytes.",
                recoverable=False,
            )
        self._write(PROGRESS, {"attempt": self._lease.attempt, "partial": partial})

    def tell(self, kind: str, data: Mapping[str, Any]) -> None:
        """Stores what the tool prints or logs. That it cannot be written is no reason to stop a tool."""
        try:
            self._write(kind, data)
        except Error:
            log.warning("what run %s told (%s) could not be kept", self._lease.run.pk, kind)
            close_old_connections()

    def _write(self, kind: str, data: Mapping[str, Any]) -> None:
        run_id = self._lease.run.pk
        with transaction.atomic():
            mine = Run.objects.filter(pk=run_id, lease_token=self._lease.token, status=Status.RUNNING)
            # The row lock keeps a reaper from taking the run between look and event.
            if mine.select_for_update().exists():
                event_add(run_id, kind, data)
                run_wake(run_id)
