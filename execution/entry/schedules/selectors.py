"""Reads schedules."""

from collections.abc import Mapping
from zoneinfo import available_timezones

from django.db.models import Q, QuerySet

from core.errors import NotFound
from execution.models import Schedule
from registry.models import Tool
from security.models import Persona, User
from security.sharing.reach import about, within

# The fields of a schedule that a picker proposes values for, and how many it proposes.
PICKED = ("persona", "tool", "time_zone")
PROPOSED = 30


def schedules_seen(by: User, permission: str = "execution.view_schedule") -> QuerySet[Schedule]:
    """The schedules of personas and tools on both of which the person holds the permission."""
    return about(by, Schedule.objects.all(), permission, tool="tool", persona="persona")


def schedules_page(filters: Mapping[str, str], by: User) -> QuerySet[Schedule]:
    """Schedules that the person sees, newest first, narrowed by `q` (part of the name, tool or persona) and
    `state` (`refused`: switched on, and its last call was refused)."""
    rows = (
        schedules_seen(by)
        .select_related("persona", "responsible", "last_run")
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


def schedule_of(schedule_id: int, by: User, permission: str) -> Schedule:
    """A schedule on which the person holds the permission. Raises NotFound."""
    rows = schedules_seen(by, permission).select_related("persona", "responsible", "last_run")
    schedule = rows.filter(pk=schedule_id).first()
    if schedule is None:
        raise NotFound("There is no such schedule.")
    return schedule


def options_of(field: str, text: str, by: User) -> list[tuple[str, str]]:
    """`(value, words)` that hold the text, of what the person sees, for a field of PICKED; else none."""
    text = text.strip()
    if field == "persona":
        personas = within(by, Persona.objects.filter(is_active=True), "security.view_persona")
        personas = personas.filter(name__icontains=text).order_by("name")
        return [(row.name, row.title) for row in personas[:PROPOSED]]
    if field == "tool":
        tools = within(by, Tool.objects.filter(active__isnull=False), "registry.view_tool")
        tools = tools.filter(name__icontains=text).order_by("name")
        return [(row.name, row.category) for row in tools[:PROPOSED]]
    if field == "time_zone":
        wanted = text.lower().replace(" ", "_")
        zones = sorted(zone for zone in available_timezones() if wanted in zone.lower())
        return [(zone, "") for zone in zones[:PROPOSED]]
    return []
