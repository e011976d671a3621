"""Groups of people that contracts name."""

from django.contrib.auth.models import Group


def group_exists(name: str) -> bool:
    """Return whether there is a group of this name, with or without people in it."""
    return Group.objects.filter(name=name).exists()
