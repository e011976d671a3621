"""The write doors of schedules: permission, change and audit in one transaction."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from audit.kinds import EventKind
from audit.ledger import Entry, record
from core.errors import InvalidRequest, NotFound, ToolHubError
from execution.engine.calls.checks import call_check
from execution.engine.requests import CallRequest
from execution.entry.schedules.times import due_after, time_zone_check
from execution.event_kinds import (
    SCHEDULE_CREATED,
    SCHEDULE_DELETED,
    SCHEDULE_SWITCHED_OFF,
    SCHEDULE_SWITCHED_ON,
)
from execution.models import Schedule
from registry.selectors import tool_missing, tools_named
from security.models import Persona, User
from security.permissions import actor_of, require
from security.tokens import principal_of_persona

NAME_MAX = 80
ADD = "execution.add_schedule"


def request_of(schedule: Schedule) -> CallRequest:
    """The call that a schedule makes."""
    return CallRequest(arguments=schedule.arguments, version=schedule.version or None)


def schedule_create(
    *,
    by: User,
    name: str,
    persona: Persona,
    tool: str,
    arguments: Any,
    cron: str,
    time_zone: str,
    version: str = "",
) -> Schedule:
    """A new schedule, switched on. The person who makes it is responsible for its runs.

    The call has to be allowed and its arguments have to fit now; both are asked again each time.
    Raises Denied, and InvalidRequest with pointers to the fields.
    """
    require(by, ADD, persona)
    exists = _is_found(by, tool)
    name, cron = name.strip(), " ".join(cron.split())
    if not 1 <= len(name) <= NAME_MAX:
        raise _field_error("name", f"Say what it is for, in at most {NAME_MAX} characters.")
    if not isinstance(arguments, dict):
        raise _field_error("arguments", "This must be a JSON object.")
    time_zone_check(time_zone)
    next_at = due_after(cron, time_zone, timezone.now())
    if next_at is None:
        raise _field_error("cron", "This is never due.")
    schedule = Schedule(
        name=name,
        persona=persona,
        tool=tool,
        version=version,
        arguments=arguments,
        cron=cron,
        time_zone=time_zone,
        next_at=next_at,
        responsible=by,
    )
    if not exists:
        raise _field_error("tool", tool_missing(tool, persona.pk).message)
    _call_check(schedule)
    with transaction.atomic():
        schedule.save(force_insert=True)
        record(_entry(SCHEDULE_CREATED, by, schedule, cron=cron, time_zone=time_zone, version=version))
    return schedule


def schedule_switch(*, by: User, schedule: Schedule, on: bool) -> None:
    """Switches a schedule on or off. On, its next due time counts from now: nothing is made up for."""
    require(by, "execution.change_schedule", schedule.persona, *tools_named(schedule.tool))
    next_at = due_after(schedule.cron, schedule.time_zone, timezone.now()) if on else None
    with transaction.atomic():
        here = Schedule.objects.filter(pk=schedule.pk, enabled=not on)
        if here.update(enabled=on, next_at=next_at):
            record(_entry(SCHEDULE_SWITCHED_ON if on else SCHEDULE_SWITCHED_OFF, by, schedule))


def schedule_delete(*, by: User, schedule: Schedule) -> None:
    """Deletes a schedule; its runs stay."""
    require(by, "execution.delete_schedule", schedule.persona, *tools_named(schedule.tool))
    with transaction.atomic():
        deleted, _ = Schedule.objects.filter(pk=schedule.pk).delete()
        if deleted:
            record(_entry(SCHEDULE_DELETED, by, schedule))


def _is_found(by: User, tool: str) -> bool:
    """Return whether the tool exists for the person; a hidden one does not. Raises Denied."""
    tools = tools_named(tool)
    try:
        require(by, ADD, *tools)
    except NotFound:
        return False
    return bool(tools)


def _call_check(schedule: Schedule) -> None:
    """Raises InvalidRequest, at the form's fields, for a call that would be refused now."""
    principal = principal_of_persona(schedule.persona, schedule.responsible)
    try:
        call_check(principal, schedule.tool, request_of(schedule))
    except ToolHubError as error:
        fields = {"TOOL_NOT_FOUND": "tool", "VERSION_NOT_FOUND": "version", "INVALID_ARGUMENTS": "arguments"}
        raise _field_error(fields.get(error.code, "persona"), error.message) from error


def _entry(kind: EventKind, by: User, schedule: Schedule, **data: object) -> Entry:
    said = {"name": schedule.name, "persona": schedule.persona.name, "tool": schedule.tool, **data}
    return Entry(kind, actor_of(by), "schedule", str(schedule.pk), said)


def _field_error(field: str, message: str) -> InvalidRequest:
    return InvalidRequest(message, errors=[{"pointer": f"/{field}", "message": message}])
