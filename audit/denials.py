"""Refused calls in the ledger: the first of a kind at once, its repetitions as a count per window."""

import time

from django.db import transaction
from django.db.models import F

from audit.event_kinds import RUN_REFUSED_REPEATED
from audit.ledger import Entry, record
from audit.models import Denial
from core.actors import SYSTEM
from core.duties.rows import each

WINDOW_S = 60


def denial_record(entry: Entry, *, persona: str, tool: str, code: str) -> None:
    """Records a refusal. Within a window of 60 s equal ones (persona, tool, code) are only counted."""
    window = int(time.time()) // WINDOW_S
    with transaction.atomic():
        row, first = Denial.objects.get_or_create(persona=persona, tool=tool, code=code, window=window)
        if first:
            record(entry)
        else:
            Denial.objects.filter(pk=row.pk).update(count=F("count") + 1)


def denials_flush() -> int:
    """Turns the counts of past windows into one event each; returns how many. A steward's duty."""
    past = Denial.objects.filter(window__lt=int(time.time()) // WINDOW_S)
    return each("denials", past, _flush, most=1000)


def _flush(pk: int) -> bool:
    row = Denial.objects.select_for_update().filter(pk=pk).first()
    if row is None:
        return False
    if row.count:
        record(_repeated(row))
    row.delete()
    return bool(row.count)


def _repeated(row: Denial) -> Entry:
    return Entry(
        kind=RUN_REFUSED_REPEATED,
        actor=SYSTEM,
        subject_kind="tool",
        subject_id=row.tool,
        data={
            "persona": row.persona,
            "code": row.code,
            "count": row.count,
            "window_start": row.window * WINDOW_S,
        },
    )
