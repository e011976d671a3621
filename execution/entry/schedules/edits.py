"""What the version of a schedule stands for."""

from collections.abc import Mapping
from typing import Any

from core.edits import Editable
from execution.models import Schedule

_SCHEDULE = ("name", "persona_id", "tool", "version", "arguments", "cron", "time_zone", "enabled")


def _schedule(row: Schedule) -> Mapping[str, Any]:
    return {name: getattr(row, name) for name in _SCHEDULE}


SCHEDULE: Editable[Schedule] = Editable(
    "schedule", Schedule.objects.all(), _schedule, lambda row: f"the schedule {row.name}"
)
