"""Cancels all runs that match a filter, in batches of a bounded size."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import QuerySet

from audit.ledger import Entry, record
from core.actors import Actor
from execution.engine.selectors import STATUS_GROUPS
from execution.engine.submit import run_cancel
from execution.event_kinds import RUNS_CANCEL_ASKED
from execution.models import Run, Status

log = logging.getLogger(__name__)
# Runs that one request cancels; whoever asks repeats it while more match.
BATCH = 500
STOPPABLE = tuple(status for status in STATUS_GROUPS["open"] if status is not Status.OUTCOME_UNKNOWN)
"""Statuses of runs that can still be stopped."""


@dataclass(frozen=True)
class Cancelled:
    """How many runs were asked to stop, how many could not be, and whether more match."""

    asked: int
    failed: int
    more: bool


def runs_stoppable_among(rows: QuerySet[Run]) -> QuerySet[Run]:
    """Return those of the runs that can still be stopped and were not asked to, the oldest first."""
    rows = rows.filter(status__in=STOPPABLE, cancel_asked_at=None)
    return rows.defer("arguments", "request", "result", "resources").order_by("pk")


def runs_cancel(
    *, by: Actor, among: QuerySet[Run], filters: Mapping[str, Any], most: int = BATCH
) -> Cancelled:
    """Ask all of the runs that can still be stopped to stop, at most `most` of them.

    Each run is cancelled as by `run_cancel`: with its own outcome, events and ledger entries, in its own
    transaction. `filters` are what was asked for, for the ledger, which records the request once. A run that
    cannot be cancelled by a fault is logged, and does not keep the others from it.
    """
    rows = list(runs_stoppable_among(among)[: most + 1])
    asked = failed = 0
    for run in rows[:most]:
        try:
            asked += run_cancel(by=by, run=run)
        except (OperationalError, InterfaceError):
            raise  # the database is away, for the others as well
        except Exception:
            log.exception("run %s could not be cancelled", run.pk)
            failed += 1
    data = {"filters": dict(filters), "asked": asked, "failed": failed, "more": len(rows) > most}
    with transaction.atomic():
        record(Entry(RUNS_CANCEL_ASKED, by, "hub", "runs", data))
    return Cancelled(asked, failed, len(rows) > most)
