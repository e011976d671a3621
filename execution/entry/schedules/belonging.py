"""Schedules that a person answers for, when that person leaves."""

from collections.abc import Sequence

from audit.kinds import EventKind
from audit.ledger import Entry, record
from core.actors import Actor
from execution.entry.schedules.selectors import schedules_seen
from execution.event_kinds import SCHEDULE_HANDED_OVER, SCHEDULE_SWITCHED_OFF
from execution.models import Schedule
from security.accounts.belongings import lines
from security.models import User


class Schedules:
    """Schedules that are switched on."""

    name = "schedules"

    def names(self, person: User, by: User) -> Sequence[str]:
        """Return the name and tool of each schedule."""
        rows = Schedule.objects.filter(responsible=person, enabled=True)
        seen = schedules_seen(by).filter(responsible=person, enabled=True).order_by("name", "pk")
        return lines([f"{row.name} ({row.tool})" for row in seen], rows.count())

    def hand_over(self, person: User, to: User, actor: Actor) -> None:
        """All of them, also those that are switched off."""
        for row in Schedule.objects.filter(responsible=person).select_related("persona"):
            Schedule.objects.filter(pk=row.pk).update(responsible=to)
            self._record(SCHEDULE_HANDED_OVER, row, actor, to=to.get_username())

    def stop(self, person: User, actor: Actor) -> None:
        """Switches them off."""
        for row in Schedule.objects.filter(responsible=person, enabled=True).select_related("persona"):
            Schedule.objects.filter(pk=row.pk).update(enabled=False, next_at=None)
            self._record(SCHEDULE_SWITCHED_OFF, row, actor)

    def _record(self, kind: EventKind, row: Schedule, actor: Actor, **data: str) -> None:
        said = {"name": row.name, "persona": row.persona.name, "tool": row.tool, **data}
        record(Entry(kind, actor, "schedule", str(row.pk), said))
