"""The kinds of events about the hub's own upkeep."""

from audit.event_kinds import HUB
from audit.kinds import Family, event_kind

UPKEEP = Family("upkeep", "Upkeep of the hub")

DUTY_ROW_RETRIED = event_kind(
    UPKEEP, "duty.row_retried", HUB, "Made the row {row} of the duty {duty} due again"
)
