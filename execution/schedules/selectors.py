"""Reads schedules."""

from collections.abc import Mapping
from zoneinfo import available_timezones

from django.db.models import Q, QuerySet

from core.errors import NotFound
from execution.models import Schedule
from registry.models import Tool
from security.models import Persona

# The fields of a schedule that a picker proposes values for, and how many it proposes.
PICKED = ("persona", "tool", "time_zone")
PROPOSED = 30


def schedules_page(filters: Mapping[str, str]) -> QuerySet[Schedule]:
    """Schedules, newest first, narrowed by `q` (part of the name, tool or persona) and
    `state` (`refused`: switched on, and its last call was refused)."""
    rows = (
        Schedule.objects.select_related("persona", "responsible", "last_run")
        .defer("arguments")
        .order_by("-pk")
    )
    if filters.get("state") == "refused":
        rows = rows.filter(enabled=True).exclude(last_error="")
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


def options_of(field: str, text: str) -> list[tuple[str, str]]:
    """`(value, words)` that hold the text, for a field of PICKED; none for another."""
    text = text.strip()
    if field == "persona":
        personas = Persona.objects.filter(name__icontains=text, is_active=True).order_by("name")
        return [(row.name, row.title) for row in personas[:PROPOSED]]
    if field == "tool":
        tools = Tool.objects.filter(name__icontains=text, active__isnull=False).order_by("name")
        return [(row.name, row.category) for row in tools[:PROPOSED]]
    if field == "time_zone":
        wanted = text.lower().replace(" ", "_")
        zones = sorted(zone for zone in available_timezones() if wanted in zone.lower())
        return [(zone, "") for zone in zones[:PROPOSED]]
    return []
