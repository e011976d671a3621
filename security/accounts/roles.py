"""Roles: groups with permissions, the same in every hub. A person has any number of them.

Made and kept by `roles_sync` after each migration; groups of other names are the organisation's own.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from django.contrib.auth.models import Group, Permission
from django.db import transaction


@dataclass(frozen=True)
class Role:
    """A role and its permissions, `app.codename` with `*` for any."""

    name: str
    meaning: str
    permissions: tuple[str, ...]


_VIEW = (
    "registry.view_*",
    "installations.view_*",
    "execution.view_*",
    "artefacts.view_*",
    "policy.view_*",
    "preconditions.view_*",
    "audit.view_*",
    "security.view_persona",
    "security.view_grant",
)
_APPS = (
    "registry",
    "installations",
    "execution",
    "memory",
    "artefacts",
    "policy",
    "preconditions",
    "security",
    "duties",
)
ROLES = (
    Role("viewer", "sees tools, packages, personas, runs and the audit", _VIEW),
    Role(
        "operator",
        "as a viewer; tries tools as personas, repeats, cancels and resolves runs, makes schedules,"
        " pauses and switches",
        (
            *_VIEW,
            "execution.add_run",
            "execution.change_run",
            "execution.resolve_run",
            "duties.*",
            "execution.*_schedule",
            "policy.*_restriction",
            "preconditions.*_resource",
            "security.change_persona",
        ),
    ),
    Role("approver", "as a viewer; approves and denies calls", (*_VIEW, "execution.approve_run")),
    Role(
        "publisher",
        "as a viewer; installs packages, sets them up, describes tools",
        (*_VIEW, "registry.*_release", "registry.*_package", "registry.*_tool", "installations.*"),
    ),
    Role("admin", "everything, people too", (*_VIEW, *(f"{app}.*" for app in _APPS))),
)
NAMES = tuple(role.name for role in ROLES)


def roles_sync() -> None:
    """Makes the groups of the roles, and gives them just these permissions."""
    known = {
        f"{app}.{code}": pk
        for pk, app, code in Permission.objects.values_list("pk", "content_type__app_label", "codename")
    }
    with transaction.atomic():
        groups = {group.name: group for group in Group.objects.filter(name__in=NAMES)}
        missing = [Group(name=name) for name in NAMES if name not in groups]
        groups |= {group.name: group for group in Group.objects.bulk_create(missing)}
        through = Group.permissions.through
        mine = [group.pk for group in groups.values()]
        held = set(through.objects.filter(group__in=mine).values_list("group_id", "permission_id"))
        wanted = {(groups[role.name].pk, known[name]) for role in ROLES for name in _matching(role, known)}
        through.objects.bulk_create(
            [through(group_id=group, permission_id=one) for group, one in sorted(wanted - held)],
            ignore_conflicts=True,
        )
        for group, one in held - wanted:
            through.objects.filter(group_id=group, permission_id=one).delete()


def _matching(role: Role, known: Iterable[str]) -> list[str]:
    return [name for name in known if any(fnmatchcase(name, pattern) for pattern in role.permissions)]
