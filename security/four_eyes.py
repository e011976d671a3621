"""The rule of four eyes, and its switch: who asks for something does not decide on it."""

from django.conf import settings
from django.db import transaction
from django.db.models import Model

from audit.ledger import Entry, record
from security.models import Switch, User
from security.permissions import actor_of, require
from security.sharing.people import people_with

NAME = "four_eyes"
CHANGE = "security.change_switch"
SHOWN = 10


def four_eyes_hold() -> bool:
    """Whether the rule holds: unless TOOLHUB_FOUR_EYES or its switch is off."""
    return settings.FOUR_EYES and not Switch.objects.filter(name=NAME, on=False).exists()


def four_eyes_switch(*, by: User, on: bool) -> None:
    """Switches the rule on or off for all of the hub; on record. Raises Denied."""
    require(by, CHANGE)
    with transaction.atomic():
        row, _ = Switch.objects.select_for_update().get_or_create(name=NAME)
        if row.on != on:
            row.on = on
            row.save(update_fields=["on"])
            kind = "four_eyes.switched_on" if on else "four_eyes.switched_off"
            record(Entry(kind, actor_of(by), "hub", NAME, {}))


def others_with(permission: str, person_id: int, *things: Model) -> tuple[str, ...]:
    """Some other people, by name, who hold a permission: on each of the things, where there are some."""
    able = people_with(permission, *things).exclude(pk=person_id).order_by("username")
    return tuple(able.values_list("username", flat=True)[:SHOWN])
