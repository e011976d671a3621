"""A run's events: written in order under the run's row lock, read with their payloads added."""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.utils import timezone

from core.json.canonical import canonical
from execution.models import Run, RunEvent
from execution.run_events import CALL_COMPLETED, CALL_FAILED, CALL_REQUESTED, RUN_EVENTS

_COUNT = "UPDATE execution_run SET events_count = events_count + 1 WHERE id = %s RETURNING events_count"


class Step(NamedTuple):
    """An event that has no row."""

    seq: int
    kind: str
    at: datetime
    data: dict[str, Any]


def event_add(run_id: UUID, kind: str, data: Mapping[str, Any] | None = None) -> RunEvent:
    """Appends an event in the caller's transaction. The row lock on the run gives its number."""
    with connection.cursor() as cursor:
        key = Run._meta.get_field("id").get_db_prep_value(run_id, connection)
        cursor.execute(_COUNT, [key])
        (seq,) = cursor.fetchone()
    return _event(run_id, seq, kind, data)


def event_next(run: Run, kind: str, data: Mapping[str, Any] | None = None) -> RunEvent:
    """Appends an event to a run whose row the caller has read under its lock.

    The caller writes the new `run.events_count` with the change that the event tells of.
    """
    run.events_count += 1
    return _event(run.pk, run.events_count, kind, data)


def _event(run_id: UUID, seq: int, kind: str, data: Mapping[str, Any] | None) -> RunEvent:
    if kind not in RUN_EVENTS:
        raise ValueError(f"The run event {kind} is not declared in execution/run_events.py.")
    return RunEvent.objects.create(
        run_id=run_id, seq=seq, kind=kind, at=timezone.now(), data=dict(data or {})
    )


def events_digest(events: Iterable[RunEvent | Step]) -> bytes:
    """SHA-256 over the canonical list of `{seq, kind, at, data}`."""
    rows = [
        {"seq": e.seq, "kind": e.kind, "at": e.at.isoformat(timespec="microseconds"), "data": e.data}
        for e in events
    ]
    return hashlib.sha256(canonical(rows)).digest()


def event_view(event: RunEvent | Step, run: Run) -> dict[str, Any]:
    """An event as readers get it: `{seq, event, number?, at, data}`, with S3's payloads for its three.

    Where the run's payload was removed with age, `expired` stands in its place.
    """
    view: dict[str, Any] = {
        "seq": event.seq,
        "event": event.kind,
        "at": iso(event.at),
        "data": dict(event.data),
    }
    declared = RUN_EVENTS.get(event.kind)
    if declared and declared.number is not None:
        view["number"] = declared.number
        view["data"] = {"toolName": run.tool, **event.data}
    expired = run.payload_expired_at is not None
    if event.kind == CALL_REQUESTED:
        view["data"] |= {"expired": True} if expired else {"params": run.arguments}
    elif event.kind == CALL_COMPLETED:
        result = {"expired": True} if expired else {"result": run.result}
        view["data"] |= {**result, "durationMs": run.duration_ms}
    elif event.kind == CALL_FAILED:
        view["data"]["error"] = run.error_told
    return view


def iso(moment: datetime | None) -> str | None:
    """RFC 3339 in UTC, to the microsecond."""
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z") if moment else None


def sequence_read(text: str | None) -> int:
    """An event's number from a header or query, 0 when absent or malformed."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else 0
