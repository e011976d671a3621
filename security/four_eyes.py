"""The switch of the two-person rule (security/two_person_rule.py)."""

from django.db import transaction

from audit.ledger import Entry, record
from security.event_kinds import FOUR_EYES_SWITCHED_OFF, FOUR_EYES_SWITCHED_ON
from security.loosening import safeguard_change, safeguarded
from security.models import Switch, User
from security.permissions import actor_of, require
from security.two_person_rule import NAME, four_eyes_hold

CHANGE = "security.change_switch"
__all__ = ["CHANGE", "four_eyes_hold", "four_eyes_switch"]


@safeguarded("two_person_rule.switch")
def four_eyes_switch(*, by: User, on: bool) -> None:
    """Switch the rule on or off for all of the hub; off is a loosening. Raises Denied."""
    require(by, CHANGE)
    with transaction.atomic():
        row, _ = Switch.objects.select_for_update().get_or_create(name=NAME)
        if row.on != on:
            rule = safeguard_change(by, "two_person_rule", ("hub", NAME), {"on": row.on}, {"on": on})
            row.on = on
            row.save(update_fields=["on"])
            kind = FOUR_EYES_SWITCHED_ON if on else FOUR_EYES_SWITCHED_OFF
            record(Entry(kind, actor_of(by), "hub", NAME, rule))
