"""Removing the payloads of old runs: their hashes, states and audit stay.

With the salt gone, nothing in the ledger tells what arguments and result were.
"""

import functools
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from audit.ledger import Entry, record
from core.actors import SYSTEM
from core.duties.rows import all_or_each
from execution.engine.features import LIFE
from execution.engine.selectors import first_id_at
from execution.engine.states import FINAL
from execution.event_kinds import RUN_PAYLOADS_EXPIRED
from execution.models import Run, RunEvent
from execution.run_events import LOGGED, PRINTED, PROGRESS

BATCH = 500


def payloads_expire_some() -> int:
    """The steward's duty: 500 runs at most of those that ended TOOLHUB_PAYLOAD_DAYS ago; returns how many."""
    return payloads_expire(timezone.now() - timedelta(days=settings.PAYLOAD_DAYS), most=BATCH)


def payloads_expire(before: datetime, most: int | None = None) -> int:
    """Removes arguments, result, request, parts and salt of runs that ended before a time; returns how many.

    With `most` it begins no further 500 once so many are done. A callback that is still owed is
    dropped. Errors and warnings stay. 500 runs are one transaction and one event in the ledger.
    """
    # A run that ended before was made before, and ids are in the order of making.
    here = Run.objects.filter(
        pk__lt=first_id_at(before), status__in=FINAL, completed_at__lt=before, payload_expired_at=None
    ).order_by("pk")
    total = 0
    while done := all_or_each("payloads", here, functools.partial(_expire, before), most=BATCH):
        total += done
        # A run that fails is not tried again in the same turn.
        if most is not None and (total >= most or done < BATCH):
            break
    return total


def _expire(before: datetime, run_ids: Sequence[UUID]) -> int:
    with transaction.atomic():
        # Another command may be at it: the rows that it took are left to it.
        free = Run.objects.filter(pk__in=run_ids, payload_expired_at=None)
        if connection.features.has_select_for_update_skip_locked:
            free = free.select_for_update(skip_locked=True)
        mine = list(free.values_list("pk", flat=True))
        if not mine:
            return 0
        Run.objects.filter(pk__in=mine).update(
            payload_expired_at=timezone.now(), arguments={}, request={}, result=None, salt=b""
        )
        for remove in LIFE.acting("at_expiry"):
            remove(mine)
        said = RunEvent.objects.filter(run_id__in=mine, kind__in=(PROGRESS, PRINTED, LOGGED))
        said.update(data={"expired": True})
        span = {"first": str(min(mine)), "last": str(max(mine))}
        data = {"runs": len(mine), "ended_before": before.isoformat(), **span}
        record(Entry(RUN_PAYLOADS_EXPIRED, SYSTEM, "hub", "runs", data))
    return len(mine)
