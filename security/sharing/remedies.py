"""Who can change what a person may do with an object: told to those who see it and are refused."""

from django.db.models import Model, Q

from security.models import User
from security.sharing.kinds import kind_of
from security.sharing.levels import MANAGE

NAMED = 3


def who_may_share(thing: Model) -> str:
    """Those who were given the right to manage the object, a few by name, and the admins always."""
    kind = kind_of(thing)
    code = f"{MANAGE}_{kind.name}"
    people = kind.people._default_manager.filter(content_object=thing.pk, permission__codename=code)
    teams = kind.teams._default_manager.filter(content_object=thing.pk, permission__codename=code)
    able = User.objects.filter(Q(pk__in=people.values("user")) | Q(groups__in=teams.values("group")))
    names = able.filter(is_active=True).distinct().order_by("username").values_list("username", flat=True)
    return " or ".join([*names[:NAMED], "an admin"])
