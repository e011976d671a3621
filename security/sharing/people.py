"""Who holds a permission on objects: the same rule as in reach.py, asked for everybody at once."""

from django.db.models import Model, Q, QuerySet

from security.models import User
from security.sharing.levels import LEVEL_OF, VIEW
from security.sharing.reach import EVERYTHING, with_parents

_BACKEND = "django.contrib.auth.backends.ModelBackend"


def people_with(permission: str, *things: Model) -> QuerySet[User]:
    """Those who can sign in and hold the permission: for the hub, or on each of the objects."""
    if not things:
        return User.objects.with_perm(permission, backend=_BACKEND)
    people = User.objects.filter(is_active=True)
    for thing in things:
        people = people.filter(pk__in=_on(permission, thing).values("pk"))
    return people


def _on(permission: str, thing: Model) -> QuerySet[User]:
    able = User.objects.with_perm(permission, backend=_BACKEND)
    teams = [team for _, one in with_parents(thing) if (team := one.team_id)]
    if teams:
        free = User.objects.with_perm(EVERYTHING, backend=_BACKEND)
        able = able.filter(Q(groups__in=teams) | Q(pk__in=free.values("pk")))
    given = Q()
    if level := LEVEL_OF.get(permission):
        for kind, one in with_parents(thing):
            rows = {"content_object": one.pk}
            if level != VIEW:
                rows["permission__codename"] = f"{level}_{kind.name}"
            given |= Q(pk__in=kind.people._default_manager.filter(**rows).values("user"))
            given |= Q(groups__in=kind.teams._default_manager.filter(**rows).values("group"))
    return User.objects.filter(Q(pk__in=able.values("pk")) | given, is_active=True)
