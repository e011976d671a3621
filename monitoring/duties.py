"""The steward's duties for people: how each went, and which rows it leaves alone for now."""

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from audit.ledger import Entry, record
from core.duties.models import DutyRecord, FailedRow
from core.duties.rows import FAILURES
from monitoring.event_kinds import DUTY_ROW_RETRIED
from security.models import User
from security.permissions import actor_of, require

PURPOSES = {
    "approvals": "Cancel calls that nobody approved in time",
    "artefacts": "Delete files of tools that no run has any more",
    "bells": "Wake workers while runs are due",
    "deadlines": "End runs that no worker began before their deadline",
    "denials": "Record repeated refusals as one event a minute",
    "escalations": "Notify the next group of runs that nobody resolved",
    "fallbacks": "Finish runs whose fallback has ended",
    "folders": "Delete folders of packages and sessions that nobody needs",
    "inline": "Give runs whose web process died to a worker",
    "installations": "Queue installations again whose worker stopped",
    "invitations": "Delete old invitations",
    "keys": "Delete expired idempotency keys",
    "memory": "Delete the memory of sessions that have expired",
    "messages": "Delete old records of messages that were sent",
    "payloads": "Remove arguments and results with age",
    "reaper": "Take back runs whose worker stopped answering",
    "retries": "Make runs due whose time to retry has come",
    "rollups": "Count runs for charts",
    "schedules": "Start the runs of schedules that are due",
    "schemas": "Delete expired schemas of dynamic tools",
    "staged": "End installations that nobody reviewed; delete what failed ones fetched",
    "submissions": "Delete one-time keys of forms after a day",
    "tries": "Delete old counters of wrong passwords and tokens",
}
# Well over the longest time between two turns of a duty.
SILENT = timedelta(minutes=30)


@dataclass(frozen=True)
class DutyState:
    """A duty's record, what it is for, how many rows it failed at, and one word for its state."""

    record: DutyRecord
    purpose: str
    rows: int
    state: str


def duty_states() -> list[DutyState]:
    """Every duty that a steward has performed, by name."""
    counts: dict[str, int] = {}
    for duty in FailedRow.objects.values_list("duty", flat=True):
        counts[duty] = counts.get(duty, 0) + 1
    return [
        DutyState(one, PURPOSES.get(one.name, ""), counts.get(one.name, 0), _state(one))
        for one in DutyRecord.objects.order_by("name")
    ]


def _state(one: DutyRecord) -> str:
    if one.succeeded_at is None or (one.failed_at and one.failed_at > one.succeeded_at):
        return "failed"
    return "silent" if timezone.now() - one.succeeded_at > SILENT else "on"


def rows_parked() -> QuerySet[FailedRow]:
    """Rows that a duty has failed at so often that it leaves them alone for a while."""
    return FailedRow.objects.filter(failures__gte=FAILURES)


def row_retry(*, by: User, row: FailedRow) -> None:
    """Make a row due again: the duty tries it in its next turn. Raises Denied."""
    require(by, "duties.change_failedrow")
    with transaction.atomic():
        FailedRow.objects.filter(pk=row.pk).update(due_at=timezone.now())
        record(Entry(DUTY_ROW_RETRIED, actor_of(by), "hub", row.duty, {"duty": row.duty, "row": row.key}))
