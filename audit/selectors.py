"""Reads the ledger."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.db import connection
from django.db.models import Max, Q, QuerySet

from audit.kinds import EventKind, kind_named, kinds_declared, subjects_declared
from audit.models import Event
from core.clock import since_of
from core.sentences import Part
from core.templatetags.console import short_id

# Parts of names are looked for among so many of the newest events; whole names and kinds among all.
SEARCHED = 20_000
# Kinds with at most so many events are rare: all of them are read and sorted in 0.1 s.
RARE = 50_000
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

    Also by `family` of kinds, by `q` (part of the name of actor or subject, among the newest SEARCHED), by
    `persona`: what the persona of this name did and was refused, and by `since`, a number of hours.
    """
    rows = events_seen(by).order_by("-id")
    for name in FILTERS:
        if filters.get(name):
            rows = rows.filter(**{name: filters[name]})
    if filters.get("family"):
        rows = rows.filter(kind__in=kinds_in(filters["family"]))
    if filters.get("persona"):
        rows = rows.filter(actor_kind="persona", actor_name=filters["persona"])
    if since := since_of(filters):
        rows = rows.filter(pk__gte=_first_at(since), at__gte=since)
    if filters.get("q"):
        newest = Event.objects.aggregate(n=Max("pk"))["n"] or 0
        rows = rows.filter(pk__gt=newest - SEARCHED)
        rows = rows.filter(Q(actor_name__icontains=filters["q"]) | Q(subject_id__icontains=filters["q"]))
    return rows


def kinds_are_rare(filters: Mapping[str, str]) -> bool:
    """Whether `kind` or `family` is given and leaves at most RARE events, whatever else is given."""
    given = {name: filters[name] for name in ("kind", "family") if filters.get(name)}
    if not given:
        return False
    kinds = {given["kind"]} if "kind" in given else set(kinds_in(given["family"]))
    return not Event.objects.filter(kind__in=kinds)[RARE : RARE + 1].exists()


def kinds_in(family: str) -> list[str]:
    """The names of the kinds of a family, which is given by its name; of all kinds for an empty one."""
    return [kind.name for kind in kinds_declared() if family in ("", kind.family.name)]


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


@dataclass(frozen=True)
class Told:
    """An event as people read it. `about` is the name of what it is about; `parts` are its sentence."""

    event: Event
    data: Mapping[str, Any]
    about: str
    parts: Sequence[Part]


def events_told(events: Iterable[Event]) -> list[Told]:
    """The events in words. Where an event has no name of what it is about, another of them may have it."""
    read = [(event, _data(event)) for event in events]
    names: dict[tuple[str, str], str] = {}
    for event, data in read:
        if name := _name(event, data):
            names[event.subject_kind, event.subject_id] = name
    return [_told(event, data, names) for event, data in read]


def _told(event: Event, data: Mapping[str, Any], names: Mapping[tuple[str, str], str]) -> Told:
    kind, subject = kind_named(event.kind), subjects_declared().get(event.subject_kind)
    unnamed = short_id(event.subject_id) if subject and subject.named_by else event.subject_id
    about = names.get((event.subject_kind, event.subject_id), unnamed)
    # An app that is no longer installed may have declared it.
    parts = kind.sentence.parts({**data, "about": about}) if kind else [Part(event.kind)]
    return Told(event, data, about, parts)


def _data(event: Event) -> dict[str, Any]:
    data: dict[str, Any] = orjson.loads(event.canonical).get("data", {})
    return data


def _name(event: Event, data: Mapping[str, Any]) -> str:
    """What the event's own data calls the thing that it is about; empty where it does not."""
    subject = subjects_declared().get(event.subject_kind)
    words = [str(data.get(member) or "") for member in subject.named_by] if subject else []
    return " ".join(words) if all(words) else ""


def data_of(events: Iterable[Event], kind: EventKind) -> Mapping[str, Any]:
    """The data of the first of these events that is of the kind; empty where none is."""
    return next((_data(event) for event in events if event.kind == kind.name), {})


def run_events(run_id: UUID) -> QuerySet[Event]:
    """The ledger's events of one run, oldest first."""
    return Event.objects.filter(run_id=run_id).order_by("id")
