"""Reads schedules."""

from collections.abc import Mapping

from django.db.models import Q, QuerySet

from core.errors import NotFound
from execution.models import Schedule


def schedules_page(filters: Mapping[str, str]) -> QuerySet[Schedule]:
    """Schedules, newest first, narrowed by `q` (part of the name, tool or persona)."""
    rows = (
        Schedule.objects.select_related("persona", "responsible", "last_run")
        .defer("arguments")
        .order_by("-pk")
    )
    if filters.get("q"):
        text = filters["q"].strip()
        rows = rows.filter(
            Q(name__icontains=text) | Q(tool__icontains=text) | Q(persona__name__icontains=text)
        )
    return rows


def schedule_of(schedule_id: int) -> Schedule:
    """A schedule, for a person. Raises NotFound."""
    schedule = (
        Schedule.objects.select_related("persona", "responsible", "last_run").filter(pk=schedule_id).first()
    )
    if schedule is None:
        raise NotFound("There is no such schedule.")
    return schedule
