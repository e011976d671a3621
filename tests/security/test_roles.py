"""Roles are groups that every hub has, with just their permissions."""

import pytest
from django.contrib.auth.models import Group, Permission

from security.accounts.roles import NAMES, roles_sync
from security.models import User

pytestmark = pytest.mark.django_db
# role, permission, held
HELD = [
    ("viewer", "registry.view_tool", True),
    ("viewer", "execution.view_run", True),
    ("viewer", "audit.view_event", True),
    ("viewer", "security.view_secret", False),
    ("viewer", "security.view_user", False),
    ("viewer", "execution.change_run", False),
    ("operator", "execution.resolve_run", True),
    ("operator", "execution.add_schedule", True),
    ("operator", "policy.add_restriction", True),
    ("operator", "execution.approve_run", False),
    ("operator", "security.add_grant", False),
    ("approver", "execution.approve_run", True),
    ("approver", "execution.add_run", False),
    ("publisher", "registry.add_release", True),
    ("publisher", "registry.change_package", True),
    ("publisher", "registry.add_assignment", False),
    ("publisher", "security.change_secret", False),
    ("admin", "security.change_user", True),
    ("admin", "security.change_secret", True),
    ("admin", "execution.approve_run", True),
    ("admin", "registry.add_assignment", True),
    ("admin", "audit.delete_event", False),
]


@pytest.mark.parametrize(("role", "permission", "held"), HELD)
def test_what_a_role_may(role: str, permission: str, held: bool) -> None:
    person = User.objects.create_user("somebody")
    person.groups.add(Group.objects.get(name=role))
    assert User.objects.get(pk=person.pk).has_perm(permission) is held


def test_they_are_kept_as_they_are_and_other_groups_are_left_alone(django_assert_num_queries: object) -> None:
    own = Group.objects.create(name="our own")
    approver = Group.objects.get(name="approver")
    own.permissions.add(Permission.objects.get(codename="view_run"))
    approver.permissions.add(Permission.objects.get(codename="change_user"))
    approver.permissions.remove(Permission.objects.get(codename="approve_run"))
    roles_sync()
    codes = set(approver.permissions.values_list("codename", flat=True))
    assert "approve_run" in codes
    assert "change_user" not in codes
    assert own.permissions.count() == 1
    assert set(NAMES) <= set(Group.objects.values_list("name", flat=True))
