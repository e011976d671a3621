"""Reads the ledger."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.db import connection
from django.db.models import Max, Q, QuerySet

from audit.models import Event
from core.clock import since_of

# Parts of names are looked for among so many of the newest events; whole names and kinds among all.
SEARCHED = 20_000
FILTERS = ("kind", "actor_kind", "actor_id", "subject_kind", "subject_id")


Narrow = Callable[[Any, QuerySet[Event]], QuerySet[Event]]
_NARROWS: list[Narrow] = []


def narrow_register(narrow: Narrow) -> None:
    """Adds what an upper layer keeps from people: leaves of events those that a person may see."""
    _NARROWS.append(narrow)


def events_seen(person: Any) -> QuerySet[Event]:
    """The events that the person may see."""
    rows = Event.objects.all()
    for narrow in _NARROWS:
        rows = narrow(person, rows)
    return rows


def events_list(filters: Mapping[str, str], by: Any) -> QuerySet[Event]:
    """Events that the person may see, newest first, narrowed by equality on FILTERS.

    Also by `q` (part of the name of actor or subject, among the newest SEARCHED), by `persona`: what the
    persona of this name did and was refused, and by `since`, a number of hours.
    """
    rows = events_seen(by).order_by("-id")
    for name in FILTERS:
        if filters.get(name):
            rows = rows.filter(**{name: filters[name]})
    if filters.get("persona"):
        rows = rows.filter(actor_kind="persona", actor_name=filters["persona"])
    if since := since_of(filters):
        rows = rows.filter(pk__gte=_first_at(since), at__gte=since)
    if filters.get("q"):
        newest = Event.objects.aggregate(n=Max("pk"))["n"] or 0
        rows = rows.filter(pk__gt=newest - SEARCHED)
        rows = rows.filter(Q(actor_name__icontains=filters["q"]) | Q(subject_id__icontains=filters["q"]))
    return rows


# Events are numbered in the order of time: the first of a moment is found by halving, no index has times.
_FIRST = """
  WITH RECURSIVE halved(low, high) AS (
    SELECT COALESCE(min(id), 0), COALESCE(max(id), 0) + 1 FROM audit_event
    UNION ALL
    SELECT CASE WHEN (SELECT at < %s FROM audit_event WHERE id >= (low + high) / 2 ORDER BY id LIMIT 1)
                THEN (low + high) / 2 + 1 ELSE low END,
           CASE WHEN (SELECT at < %s FROM audit_event WHERE id >= (low + high) / 2 ORDER BY id LIMIT 1)
                THEN high ELSE (low + high) / 2 END
      FROM halved WHERE low < high)
  SELECT max(low) FROM halved
"""
# By how many numbers two events that are written at once may stand in another order than their times.
_BESIDE = 1_000


def _first_at(moment: datetime) -> int:
    """A number below which no event is of the moment or later."""
    at = connection.ops.adapt_datetimefield_value(moment)
    with connection.cursor() as cursor:
        cursor.execute(_FIRST, [at, at])
        (found,) = cursor.fetchone()
    return max(0, int(found) - _BESIDE)


# Where a subject is a number or a UUID, the members of an event's data that name it.
_NAMES = {
    "persona": ("persona",),
    "person": ("person",),
    "schedule": ("name",),
    "installation": ("package", "version"),
}


def subject_names(events: Iterable[Event]) -> dict[tuple[str, str], str]:
    """`(subject_kind, subject_id)` → what people call it, where one of these events has its name."""
    rows = [event.pk for event in events if event.subject_kind in _NAMES]
    found: dict[tuple[str, str], str] = {}
    for kind, subject, canonical in Event.objects.filter(pk__in=rows).values_list(
        "subject_kind", "subject_id", "canonical"
    ):
        data = orjson.loads(canonical)["data"]
        if all(words := [data.get(name) for name in _NAMES[kind]]):
            found[kind, subject] = " ".join(words)
    return found


def allowed_by(events: Sequence[Event]) -> list[str]:
    """What allowed a run, as its event of acceptance has it; empty where it is not among the events."""
    accepted = next((event for event in events if event.kind == "run.accepted"), None)
    return list(orjson.loads(accepted.canonical)["data"].get("allowed_by", ())) if accepted else []


def run_events(run_id: UUID) -> QuerySet[Event]:
    """The ledger's events of one run, oldest first."""
    return Event.objects.filter(run_id=run_id).order_by("id")
