"""Reads the ledger."""

from collections.abc import Mapping
from uuid import UUID

from django.db.models import Q, QuerySet

from audit.models import Event

FILTERS = ("kind", "actor_kind", "actor_id", "subject_kind", "subject_id")


def events_list(filters: Mapping[str, str]) -> QuerySet[Event]:
    """Events, newest first, narrowed by equality on FILTERS and by `q` (name of actor or subject)."""
    rows = Event.objects.order_by("-id")
    for name in FILTERS:
        if filters.get(name):
            rows = rows.filter(**{name: filters[name]})
    if filters.get("q"):
        rows = rows.filter(Q(actor_name__icontains=filters["q"]) | Q(subject_id__icontains=filters["q"]))
    return rows


def run_events(run_id: UUID) -> QuerySet[Event]:
    """The ledger's events of one run, oldest first."""
    return Event.objects.filter(run_id=run_id).order_by("id")
