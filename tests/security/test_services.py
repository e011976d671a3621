"""The write doors: permission, change and record are one. What is denied changes nothing."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.utils import timezone

from audit.models import Event
from core.errors import Conflict, Denied, InvalidRequest
from registry.models import Assignment, Package
from registry.services import assignment_create, assignment_delete
from security.models import Grant, Persona, Token, User
from security.services import (
    grant_create,
    grant_revoke,
    persona_create,
    persona_switch,
    token_create,
    token_revoke,
)

pytestmark = pytest.mark.django_db
LATER = datetime(2199, 1, 1, tzinfo=UTC)


def recorded(kind: str) -> list[dict[str, Any]]:
    rows = Event.objects.filter(kind=kind).order_by("id").values_list("canonical", flat=True)
    return [json.loads(row) for row in rows]


def state() -> list[Any]:
    """Everything that these services write."""
    models = (Persona, Grant, Token, Assignment, Event)
    return [list(model.objects.order_by("pk").values()) for model in models]  # type: ignore[attr-defined]


@pytest.fixture
def doors(admin: User, persona: Persona, published: None) -> dict[str, Callable[[User], object]]:
    grant = grant_create(by=admin, persona=persona, capability="file:read", reason="work")
    token, _ = token_create(by=admin, persona=persona, name="ci")
    package = Package.objects.get(name="toolhub-data")
    other = Package.objects.get(name="toolhub-system")
    assignment = assignment_create(by=admin, persona=persona, package=package)
    return {
        "add_persona": lambda by: persona_create(by=by, name="new"),
        "change_persona": lambda by: persona_switch(by=by, persona=persona, on=False),
        "add_grant": lambda by: grant_create(by=by, persona=persona, capability="x", reason="y"),
        "delete_grant": lambda by: grant_revoke(by=by, grant=grant),
        "add_token": lambda by: token_create(by=by, persona=persona, name="n"),
        "delete_token": lambda by: token_revoke(by=by, token=token),
        "add_assignment": lambda by: assignment_create(by=by, persona=persona, package=other),
        "delete_assignment": lambda by: assignment_delete(by=by, assignment=assignment),
    }


DOORS = ["add_persona", "change_persona", "add_grant", "delete_grant", "add_token", "delete_token"]
DOORS += ["add_assignment", "delete_assignment"]


@pytest.mark.parametrize("door", DOORS)
def test_without_its_permission_a_door_is_shut_and_nothing_changes(
    doors: dict[str, Callable[[User], object]], viewer: User, door: str
) -> None:
    others = Permission.objects.exclude(codename=door)
    viewer.user_permissions.set(others)
    before = state()
    with pytest.raises(Denied) as refused:
        doors[door](User.objects.get(pk=viewer.pk))
    assert door in refused.value.message
    assert state() == before


@pytest.mark.parametrize("door", DOORS)
def test_with_its_permission_alone_a_door_opens_and_the_change_is_recorded_by_its_author(
    doors: dict[str, Callable[[User], object]], viewer: User, door: str
) -> None:
    viewer.user_permissions.set(Permission.objects.filter(codename=door))
    before = Event.objects.count()
    doors[door](User.objects.get(pk=viewer.pk))
    assert Event.objects.count() == before + 1
    event = Event.objects.latest("id")
    assert (event.actor_kind, event.actor_id, event.actor_name) == ("person", str(viewer.pk), "viewer")


@pytest.mark.parametrize("door", DOORS)
def test_a_person_who_left_opens_no_door(
    doors: dict[str, Callable[[User], object]], admin: User, door: str
) -> None:
    User.objects.filter(pk=admin.pk).update(is_active=False)
    before = state()
    with pytest.raises(Denied):
        doors[door](User.objects.get(pk=admin.pk))
    assert state() == before


@pytest.mark.parametrize("name", ["", "Upper", "1st", "with space", "x" * 65, "a_b", "a/b", "é", "a\n"])
def test_a_malformed_name_of_a_persona_is_refused(admin: User, name: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        persona_create(by=admin, name=name)
    assert refused.value.errors[0]["pointer"] == "/name"
    assert not Persona.objects.exists()


def test_a_persona_exists_once(admin: User, persona: Persona) -> None:
    with pytest.raises(Conflict):
        persona_create(by=admin, name=persona.name)
    assert len(recorded("persona.created")) == 1


def test_a_grant_is_recorded_with_its_reason_and_end(admin: User, persona: Persona) -> None:
    grant_create(by=admin, persona=persona, capability="file:read", reason=" audit ", expires_at=LATER)
    assert recorded("grant.created")[0]["data"] == {
        "persona": "researcher",
        "capability": "file:read",
        "reason": "audit",
        "expires_at": "2199-01-01T00:00:00+00:00",
    }


@pytest.mark.parametrize(
    ("capability", "reason", "pointer"),
    [
        ("fil*", "r", "/capability"),
        ("", "r", "/capability"),
        ("file:read", "  ", "/reason"),
        ("a b", "r", "/capability"),
    ],
)
def test_a_grant_that_does_not_fit_is_refused(
    admin: User, persona: Persona, capability: str, reason: str, pointer: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        grant_create(by=admin, persona=persona, capability=capability, reason=reason)
    assert refused.value.errors[0]["pointer"] == pointer
    assert not Grant.objects.exists()


def test_a_grant_cannot_end_in_the_past(admin: User, persona: Persona) -> None:
    past = timezone.now() - timedelta(seconds=1)
    with pytest.raises(InvalidRequest):
        grant_create(by=admin, persona=persona, capability="file:read", reason="r", expires_at=past)
    assert not Grant.objects.exists()


def test_a_capability_is_granted_once(admin: User, persona: Persona) -> None:
    grant_create(by=admin, persona=persona, capability="file:read", reason="r")
    with pytest.raises(Conflict):
        grant_create(by=admin, persona=persona, capability="file:read", reason="again")
    assert Grant.objects.get().reason == "r"
    assert len(recorded("grant.created")) == 1


def test_taking_back_twice_is_recorded_once(admin: User, persona: Persona) -> None:
    grant = grant_create(by=admin, persona=persona, capability="file:read", reason="r")
    grant_revoke(by=admin, grant=Grant.objects.get(pk=grant.pk))
    grant_revoke(by=admin, grant=grant)
    assert len(recorded("grant.revoked")) == 1


def test_switching_to_what_it_is_records_nothing(admin: User, persona: Persona) -> None:
    persona_switch(by=admin, persona=persona, on=True)
    persona_switch(by=admin, persona=persona, on=False)
    persona_switch(by=admin, persona=persona, on=False)
    assert len(recorded("persona.switched_on")) == 0
    assert len(recorded("persona.switched_off")) == 1


@pytest.mark.parametrize(
    "act",
    [
        lambda by, p: persona_create(by=by, name="n", title="t" * 121),
        lambda by, p: grant_create(by=by, persona=p, capability="a", reason="r" * 201),
        lambda by, p: token_create(by=by, persona=p, name="n" * 81),
        lambda by, p: token_create(by=by, persona=p, name="a\x00b"),
    ],
    ids=["title", "reason", "token's name", "NUL"],
)
def test_a_text_that_no_column_holds_is_refused_on_either_database(
    admin: User, persona: Persona, act: Callable[[User, Persona], object]
) -> None:
    before = state()
    with pytest.raises(InvalidRequest):
        act(admin, persona)
    assert state() == before


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("door", DOORS)
def test_a_change_that_cannot_be_recorded_is_not_made(
    doors: dict[str, Callable[[User], object]], admin: User, door: str
) -> None:
    before = state()
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE audit_event RENAME TO audit_event_away")
    try:
        with pytest.raises(Exception, match="audit_event"):
            doors[door](admin)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE audit_event_away RENAME TO audit_event")
    assert state() == before


@pytest.mark.django_db
def test_an_assignment_names_exactly_one_thing(admin: User, persona: Persona, published: None) -> None:
    package = Package.objects.get(name="toolhub-data")
    tool = package.tools.get(name="echo")
    for wrong in ({}, {"tool": tool, "package": package}):
        with pytest.raises(InvalidRequest):
            assignment_create(by=admin, persona=persona, **wrong)
    assignment_create(by=admin, persona=persona, tool=tool)
    with pytest.raises(Conflict):
        assignment_create(by=admin, persona=persona, tool=tool)
    assert Assignment.objects.count() == 1
