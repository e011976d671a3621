"""The two-person rule: who asks for something does not decide on it. Whether it holds, and who else may."""

from django.conf import settings
from django.db.models import Model

from security.models import Switch
from security.sharing.people import people_with

NAME = "four_eyes"
SHOWN = 10


def four_eyes_hold() -> bool:
    """Whether the rule holds: unless TOOLHUB_FOUR_EYES or its switch is off."""
    return settings.FOUR_EYES and not Switch.objects.filter(name=NAME, on=False).exists()


def others_with(permission: str, person_id: int, *things: Model) -> tuple[str, ...]:
    """Some other people, by name, who hold a permission: on each of the things, where there are some."""
    able = people_with(permission, *things).exclude(pk=person_id).order_by("username")
    return tuple(able.values_list("username", flat=True)[:SHOWN])
