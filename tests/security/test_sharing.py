"""Whom an object is there for: one rule, asked for one object, for a list, and for everybody at once."""

import itertools

import pytest
from django.contrib.auth.models import Group, Permission

from audit.models import Event
from core.errors import Conflict, Denied, InvalidRequest, NotFound
from registry.models import Package, Tool
from security.models import Persona, User
from security.permissions import require
from security.services import grant_create, persona_create
from security.sharing.levels import APPROVE, EXECUTE, LEVELS, MANAGE, VIEW
from security.sharing.people import people_with
from security.sharing.reach import about, holds, kept_from, may, within
from security.sharing.services import right_give, right_take, team_set
from security.sharing.teams import team_create, team_delete, team_join, team_part

pytestmark = pytest.mark.django_db
SEE, TRY, CHANGE, DECIDE = (
    "registry.view_tool",
    "execution.add_run",
    "registry.change_tool",
    "execution.approve_run",
)
BY_LEVEL = {VIEW: SEE, EXECUTE: TRY, MANAGE: CHANGE, APPROVE: DECIDE}
# A person's roles, the team of the tool and of its package, the right given on either; and what they may.
CASES = [
    ((SEE, TRY), None, None, None, {SEE, TRY}),
    ((SEE, TRY), "mine", None, None, {SEE, TRY}),
    ((SEE, TRY), "others", None, None, set()),
    ((SEE, TRY), None, "mine", None, {SEE, TRY}),
    ((SEE, TRY), None, "others", None, set()),
    ((SEE, TRY), "mine", "others", None, {SEE, TRY}),
    ((SEE, TRY), "others", "mine", None, {SEE, TRY}),
    ((SEE, TRY), "others", None, ("tool", VIEW), {SEE}),
    ((SEE, TRY), "others", None, ("tool", EXECUTE), {SEE, TRY}),
    ((SEE, TRY), None, "others", ("package", VIEW), {SEE}),
    ((SEE, TRY), "others", None, ("package", MANAGE), {SEE, CHANGE}),
    ((), None, None, None, set()),
    ((), "mine", None, None, set()),
    ((), None, None, ("tool", VIEW), {SEE}),
    ((), "others", "others", ("tool", APPROVE), {SEE, DECIDE}),
    ((), None, None, ("package", EXECUTE), {SEE, TRY}),
]


def give_roles(person: User, *permissions: str) -> User:
    """The person as read anew, holding just these permissions for the hub."""
    codes = [permission.partition(".")[2] for permission in permissions]
    person.user_permissions.set(Permission.objects.filter(codename__in=codes))
    return User.objects.get(pk=person.pk)


@pytest.fixture
def kim(db: None) -> User:
    return User.objects.create_user("kim")


@pytest.fixture
def teams(admin: User, kim: User) -> dict[str | None, Group | None]:
    mine, others = team_create(by=admin, name="mine"), team_create(by=admin, name="others")
    team_join(by=admin, team=mine, person=kim)
    return {"mine": mine, "others": others, None: None}


@pytest.mark.parametrize("alone", [True, False], ids=["to the person", "to a team"])
@pytest.mark.parametrize(("roles", "tool_team", "package_team", "right", "expected"), CASES)
def test_the_rule(
    admin: User,
    kim: User,
    teams: dict[str | None, Group | None],
    published: None,
    roles: tuple[str, ...],
    tool_team: str | None,
    package_team: str | None,
    right: tuple[str, str] | None,
    expected: set[str],
    alone: bool,
) -> None:
    """The same from each side: the object's, the list's and the people's, and of what names the tool."""
    tool = Tool.objects.select_related("package").get(name="echo")
    team_set(by=admin, thing=tool, team=teams[tool_team])
    team_set(by=admin, thing=tool.package, team=teams[package_team])
    to = kim
    if right:
        to = kim if alone else team_create(by=admin, name="guests")
        if not alone:
            team_join(by=admin, team=to, person=kim)
        right_give(by=admin, thing=tool if right[0] == "tool" else tool.package, to=to, level=right[1])
    kim, tool = give_roles(kim, *roles), Tool.objects.get(name="echo")
    rows = Tool.objects.filter(pk=tool.pk)
    for permission in BY_LEVEL.values():
        wanted = permission in expected
        assert may(kim, permission, tool) is wanted, permission
        assert within(kim, rows, permission).exists() is wanted, permission
        assert about(kim, rows, permission, tool="name").exists() is wanted, permission
        assert people_with(permission, tool).filter(pk=kim.pk).exists() is wanted, permission
        assert not wanted or holds(kim, permission)
    kept = any(things.filter(pk=tool.pk).exists() for things in kept_from(kim).get("tool", []))
    assert kept is (
        not expected and bool(tool_team or package_team) and "mine" not in (tool_team, package_team)
    )
    User.objects.filter(pk=kim.pk).update(is_active=False)
    gone = User.objects.get(pk=kim.pk)
    assert not any(may(gone, permission, tool) for permission in BY_LEVEL.values())
    assert not within(gone, rows, SEE).exists()


def test_a_refusal_says_who_can_change_it_and_nothing_to_others(
    admin: User, kim: User, teams: dict[str | None, Group | None], published: None
) -> None:
    tool = Tool.objects.get(name="echo")
    team_set(by=admin, thing=tool, team=teams["others"])
    lee = User.objects.create_user("lee")
    right_give(by=admin, thing=tool, to=lee, level=MANAGE)
    kim = give_roles(kim, SEE, CHANGE)
    with pytest.raises(NotFound, match="There is no tool echo"):
        require(kim, CHANGE, tool)
    right_give(by=admin, thing=tool, to=kim, level=VIEW)
    with pytest.raises(Denied) as refused:
        require(User.objects.get(pk=kim.pk), CHANGE, tool)
    assert refused.value.message == "kim lacks the permission registry.change_tool on echo."
    assert refused.value.suggestions == ["Ask lee or an admin for it."]


def test_nobody_gives_what_they_do_not_have(admin: User, kim: User, published: None) -> None:
    """By the right to manage one shares what one was given; whose an object is only admins say."""
    tool, lee = Tool.objects.get(name="echo"), User.objects.create_user("lee")
    kim = give_roles(kim, SEE, CHANGE)
    with pytest.raises(Denied):
        right_give(by=kim, thing=tool, to=lee, level=VIEW)
    right_give(by=admin, thing=tool, to=kim, level=MANAGE)
    kim, before = User.objects.get(pk=kim.pk), Event.objects.count()
    for level in (EXECUTE, APPROVE):
        with pytest.raises(Denied):
            right_give(by=kim, thing=tool, to=lee, level=level)
    with pytest.raises(Denied):
        team_set(by=kim, thing=tool, team=team_create(by=admin, name="mine"))
    with pytest.raises(InvalidRequest):
        right_give(by=admin, thing=tool, to=lee, level="own")
    assert Event.objects.exclude(kind="team.created").count() == before
    right_give(by=kim, thing=tool, to=lee, level=VIEW)
    assert may(User.objects.get(pk=lee.pk), SEE, tool)
    right_take(by=kim, thing=tool, to=lee, level=VIEW)
    assert not may(User.objects.get(pk=lee.pk), SEE, tool)
    kinds = list(Event.objects.order_by("-pk").values_list("kind", flat=True)[:2])
    assert kinds == ["tool.right_taken", "tool.right_given"]


def test_a_team_that_owns_something_stays(admin: User, kim: User) -> None:
    team, persona = team_create(by=admin, name="data"), persona_create(by=admin, name="clerk")
    team_join(by=admin, team=team, person=kim)
    team_set(by=admin, thing=persona, team=team)
    with pytest.raises(Conflict, match="data owns 1 persona"):
        team_delete(by=admin, team=team)
    team_part(by=admin, team=team, person=kim)
    team_set(by=admin, thing=persona, team=None)
    team_delete(by=admin, team=team)
    with pytest.raises(Conflict, match="role"):
        team_create(by=admin, name="viewer")
    assert list(Event.objects.order_by("pk").values_list("kind", flat=True)) == [
        "team.created",
        "persona.created",
        "team.joined",
        "persona.team_set",
        "team.parted",
        "persona.team_set",
        "team.deleted",
    ]


def test_the_role_admin_reaches_everything(admin: User, kim: User, published: None) -> None:
    """Nobody is locked out of what a team keeps for itself: its last member may have left."""
    kim.groups.add(Group.objects.get(name="admin"))
    package = Package.objects.get(name="toolhub-data")
    team_set(by=admin, thing=package, team=team_create(by=admin, name="data"))
    kim = User.objects.get(pk=kim.pk)
    assert may(kim, "registry.change_package", package)
    assert within(kim, Tool.objects.all(), SEE).count() == Tool.objects.count()
    assert kept_from(kim) == {}


def test_every_kind_has_each_right_and_its_rows(admin: User, kim: User, published: None) -> None:
    things = (Tool.objects.get(name="echo"), Package.objects.get(name="toolhub-data"), Persona(name="p"))
    things[2].save()
    for thing, level in itertools.product(things, LEVELS):
        right_give(by=admin, thing=thing, to=kim, level=level)
        name = type(thing).__name__.lower()
        # guardian's own answer, by our rows with direct foreign keys
        assert User.objects.get(pk=kim.pk).has_perm(f"{thing._meta.app_label}.{level}_{name}", thing)
        right_take(by=admin, thing=thing, to=kim, level=level)
        assert not User.objects.get(pk=kim.pk).has_perm(f"{thing._meta.app_label}.{level}_{name}", thing)


def test_who_manages_a_persona_gives_it_neither_the_hub_nor_approvals(
    admin: User, kim: User, persona: Persona, published: None
) -> None:
    """An agent of it may have an admin who answers for it; and to manage does not contain to approve."""
    echo = Tool.objects.get(name="echo")

    def grant(capability: str) -> None:
        grant_create(by=User.objects.get(pk=kim.pk), persona=persona, capability=capability, reason="r")

    right_give(by=admin, thing=persona, to=kim, level=MANAGE)
    grant("file:read")
    for capability in ("toolhub:personas", "toolhub"):
        with pytest.raises(Denied, match="add_grant"):
            grant(capability)
    for thing in (None, persona):
        if thing:
            right_give(by=admin, thing=thing, to=kim, level=APPROVE)
        for capability in ("approved:echo", "approved:*", "approved"):
            with pytest.raises(Denied, match="approve_run"):
                grant(capability)
    right_give(by=admin, thing=echo, to=kim, level=APPROVE)
    grant("approved:echo")
    with pytest.raises(Denied, match="approve_run"):
        grant("approved:*")
    assert {row.capability for row in persona.grants.all()} == {"file:read", "approved:echo"}
