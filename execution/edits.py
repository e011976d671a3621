"""The editable things of execution: what a version of each stands for."""

from collections.abc import Mapping
from typing import Any

from core.edits import Editable
from execution.features.preconditions.models import Resource
from execution.memory.models import Item
from execution.models import Schedule

_SCHEDULE = ("name", "persona_id", "tool", "version", "arguments", "cron", "time_zone", "enabled")


def _schedule(row: Schedule) -> Mapping[str, Any]:
    return {name: getattr(row, name) for name in _SCHEDULE}


SCHEDULE: Editable[Schedule] = Editable(
    "schedule", Schedule.objects.all(), _schedule, lambda row: f"the schedule {row.name}"
)
RESOURCE: Editable[Resource] = Editable(
    "resource",
    Resource.objects.all(),
    lambda row: {"url": row.url} if row.url else {"up": row.is_up},
    lambda row: f"the resource {row.name}",
)
MEMORY_ITEM: Editable[Item] = Editable(
    "memory item",
    Item.objects.all(),
    lambda row: {"value": row.value},
    lambda row: f"the value of {row.key}",
)
