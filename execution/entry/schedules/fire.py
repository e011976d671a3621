"""Making the calls that are due: a steward's duty."""

import functools
import logging
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from audit.ledger import Entry, record
from core.actors import SYSTEM
from core.duties.rows import each
from core.errors import Denied, Overloaded, ToolHubError
from execution.engine.calls.refusals import refusal_record
from execution.engine.submit import Manner, run_submit
from execution.entry.schedules.services import ADD, request_of
from execution.entry.schedules.times import due_after
from execution.event_kinds import SCHEDULE_FIRED
from execution.models import Run, Schedule
from registry.selectors import tools_named
from security.principals import PersonaPrincipal
from security.sharing.reach import may
from security.tokens import principal_of_persona

log = logging.getLogger(__name__)
ERROR_MAX = 300


def schedules_fire(now: datetime | None = None) -> int:
    """Makes the call of each schedule that is due; returns how many. At most 100 a time.

    Times that passed while no steward ran are made up for by one call.
    """
    now = now or timezone.now()
    due = Schedule.objects.filter(enabled=True, next_at__lte=now).order_by("next_at")
    return each("schedules", due, functools.partial(_fire, now))


def _fire(now: datetime, schedule_id: int) -> bool:
    """Advances the schedule and submits its run, in one transaction. False when another steward was first.

    Moving `next_at` by compare-and-set is the claim; the run's idempotency key keeps also a due time that
    comes back, as from a restored row, from making a second run.
    """
    # Asked again: another steward may have fired it since it was found due, and its next time is to come.
    still = Schedule.objects.filter(pk=schedule_id, enabled=True, next_at__lte=now)
    schedule = still.select_related("persona", "responsible").first()
    if schedule is None or schedule.next_at is None:
        return False
    due = schedule.next_at
    mine = Schedule.objects.filter(pk=schedule.pk, enabled=True, next_at=due)
    try:
        with transaction.atomic():
            following = due_after(schedule.cron, schedule.time_zone, max(due, now))
            if not mine.update(next_at=following, last_at=due, last_error=""):
                return False
            _submit(schedule, due)
    except Overloaded:
        log.warning("schedule %s waits: too many runs wait already", schedule.pk)
        return False
    return True


def _submit(schedule: Schedule, due: datetime) -> None:
    """Submits the run, or writes down why it was refused. Raises Overloaded, which is no refusal."""
    here = Schedule.objects.filter(pk=schedule.pk)
    principal = principal_of_persona(schedule.persona, schedule.responsible)
    try:
        _person_check(principal, schedule)
        run = run_submit(
            principal=principal,
            name=schedule.tool,
            request=request_of(schedule),
            manner=Manner(0.0, detached=True),
            key=_key(schedule, due),
        )
    except Overloaded:
        raise
    except ToolHubError as error:
        here.update(last_run=None, last_error=f"{error.code}: {error.message}"[:ERROR_MAX])
        log.warning("schedule %s was refused: %s", schedule.pk, error.code)
        return
    here.update(last_run=run)
    record(_fired_entry(schedule, due, run))


def _person_check(principal: PersonaPrincipal, schedule: Schedule) -> None:
    """Who answers for a schedule may still make it: else what somebody set up outlives their right to it.

    Who has left is told as that by the decision. Raises Denied, on record.
    """
    person = schedule.responsible
    if not person.is_active or may(person, ADD, schedule.persona, *tools_named(schedule.tool)):
        return
    error = Denied(
        f"{person.get_username()} may not make schedules of {schedule.tool} as {schedule.persona} any more.",
        suggestions=["Hand it over to somebody who may, or delete it."],
    )
    refusal_record(principal, schedule.tool, error, {"reason": error.message})
    raise error


def _key(schedule: Schedule, due: datetime) -> str:
    return f"schedule:{schedule.pk}:{due.isoformat()}"


def _fired_entry(schedule: Schedule, due: datetime, run: Run) -> Entry:
    data = {"name": schedule.name, "due": due.isoformat()}
    return Entry(SCHEDULE_FIRED, SYSTEM, "schedule", str(schedule.pk), data, run.pk)
