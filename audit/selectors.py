"""Reads the ledger."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

import orjson
from django.db.models import Max, Q, QuerySet

from audit.models import Event

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

    Also by `q` (part of the name of actor or subject, among the newest SEARCHED), and by `persona`: what the
    persona of this name did and was refused.
    """
    rows = events_seen(by).order_by("-id")
    for name in FILTERS:
        if filters.get(name):
            rows = rows.filter(**{name: filters[name]})
    if filters.get("persona"):
        rows = rows.filter(actor_kind="persona", actor_name=filters["persona"])
    if filters.get("q"):
        newest = Event.objects.aggregate(n=Max("pk"))["n"] or 0
        rows = rows.filter(pk__gt=newest - SEARCHED)
        rows = rows.filter(Q(actor_name__icontains=filters["q"]) | Q(subject_id__icontains=filters["q"]))
    return rows


# Where a subject is a number or a UUID, the members of an event's data that name it.
_NAMES = {"persona": ("persona",), "installation": ("package", "version")}


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
