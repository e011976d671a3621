"""The doors of rules: permission, form, record."""

import json
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.utils import timezone

from audit.models import Event
from core.errors import Conflict, Denied, InvalidRequest
from security.models import Persona, User
from security.policy.models import Restriction, Standing
from security.policy.services import isolation_set, pause_begin, restriction_create, restriction_lift
from security.services import grant_create, token_create
from security.tokens import principal_find

pytestmark = pytest.mark.django_db
LATER = timezone.now() + timedelta(days=1)


def told(kind: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(Event.objects.get(kind=kind).canonical)["data"]
    return found


DOORS: dict[str, Callable[[User, Persona], object]] = {
    "add_restriction": lambda by, persona: restriction_create(by=by, persona=persona, reason="r"),
    "delete_restriction": lambda by, persona: restriction_lift(by=by, restriction=Restriction.objects.get()),
    "change_standing": lambda by, persona: isolation_set(by=by, persona=persona, isolation="strict"),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_door_opens_with_its_permission_alone_and_is_shut_without_it(
    admin: User, viewer: User, persona: Persona, door: str
) -> None:
    pause_begin(by=admin, reason="first")
    User.objects.filter(pk=admin.pk).update(is_active=False)  # else the admin would have to confirm
    events = Event.objects.count()
    viewer.user_permissions.set(Permission.objects.exclude(codename=door))
    with pytest.raises(Denied):
        DOORS[door](User.objects.get(pk=viewer.pk), persona)
    assert (Restriction.objects.count(), Standing.objects.count(), Event.objects.count()) == (1, 0, events)
    viewer.user_permissions.set(Permission.objects.filter(codename=door))
    DOORS[door](User.objects.get(pk=viewer.pk), persona)
    assert Event.objects.count() == events + 1
    assert Event.objects.latest("id").actor_name == "viewer"


def test_an_agent_makes_rules_with_the_capability_on_its_responsible_persons_permission(
    admin: User, persona: Persona, token_text: str
) -> None:
    found = principal_find(token_text)
    assert found
    with pytest.raises(Denied):
        restriction_create(by=found[0], tool="echo", reason="r")
    grant_create(by=admin, persona=persona, capability="toolhub:personas", reason="r")
    again = principal_find(token_text)
    assert again
    row = restriction_create(by=again[0], tool="echo", reason="r")
    assert row.created_by == admin
    assert Event.objects.latest("id").actor_name == "researcher"


def test_a_restriction_and_its_end_are_recorded_with_what_they_name(admin: User, persona: Persona) -> None:
    row = restriction_create(
        by=admin, persona=persona, tool="echo", capability="file:*", reason=" an audit ", expires_at=LATER
    )
    expected = {
        "persona": "researcher",
        "tool": "echo",
        "capability": "file:*",
        "reason": "an audit",
        "expires_at": LATER.isoformat(),
    }
    assert told("restriction.created") == expected
    restriction_lift(by=admin, restriction=row)
    restriction_lift(by=admin, restriction=row)
    assert told("restriction.lifted") == {**expected, "two_person_rule": "alone"}
    assert not Restriction.objects.exists()


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"capability": "fil*"}, "/capability"),
        ({}, "/capability"),
        ({"tool": "echo", "reason": " "}, "/reason"),
        ({"tool": "echo", "reason": "r" * 201}, "/reason"),
        ({"tool": "echo", "expires_at": timezone.now() - timedelta(seconds=1)}, "/expires_at"),
    ],
)
def test_a_restriction_that_does_not_fit_is_refused(
    admin: User, given: dict[str, object], pointer: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        restriction_create(by=admin, **{"reason": "r", **given})  # type: ignore[arg-type]
    assert refused.value.errors[0]["pointer"] == pointer
    assert not Restriction.objects.exists()


def test_the_hub_is_paused_once_and_resumed(admin: User) -> None:
    row = pause_begin(by=admin, reason="an incident")
    with pytest.raises(Conflict):
        pause_begin(by=admin, reason="again")
    pause_begin(by=admin, tool="echo", reason="also")
    restriction_lift(by=admin, restriction=row)
    assert told("pause.ended")["reason"] == "an incident"
    assert Event.objects.get(kind="pause.ended").subject_kind == "hub"
    pause_begin(by=admin, reason="again")


def test_a_pause_names_one_thing(admin: User, persona: Persona) -> None:
    with pytest.raises(InvalidRequest):
        pause_begin(by=admin, persona=persona, tool="echo", reason="r")


def test_isolation_is_set_once_and_recorded(admin: User, persona: Persona) -> None:
    with pytest.raises(InvalidRequest):
        isolation_set(by=admin, persona=persona, isolation="none")
    isolation_set(by=admin, persona=persona, isolation="strict")
    isolation_set(by=admin, persona=persona, isolation="strict")
    assert told("persona.isolation_set") == {"persona": "researcher", "isolation": "strict"}
    token_create(by=admin, persona=persona, name="n")
