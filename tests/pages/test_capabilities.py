"""The catalogue of capabilities and the matrix."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit.models import Event
from registry.catalogue import catalogue_sync
from security.models import Grant, Persona, User
from security.policy.catalogue import capabilities_note, risk_guess
from security.policy.models import Capability
from security.policy.services import restriction_create
from security.policy.tiers import tier_change, tier_create, tier_set
from security.services import grant_create, persona_create


def test_what_a_published_tool_needs_is_in_the_catalogue(eyes: Client, db: None) -> None:
    catalogue_sync("tests.fixture_catalogue")
    row = Capability.objects.get(name="file:read:tmp")
    assert row.risk == "low"
    page = eyes.get(f"/policy/capabilities/{row.pk}/").content.decode()
    assert "/tools/fx_capable/" in page
    assert "file:read:tmp" in eyes.get("/policy/capabilities/").content.decode()


def test_noting_again_keeps_what_people_said(admin: User) -> None:
    capabilities_note(["file:delete"])
    Capability.objects.filter(name="file:delete").update(description="Deletes", risk="critical")
    capabilities_note(["file:delete", "file:delete"])
    assert Capability.objects.filter(name="file:delete").values_list("description", "risk").get() == (
        "Deletes",
        "critical",
    )


@pytest.mark.parametrize(
    ("name", "risk"),
    [
        ("file:read", "low"),
        ("file:delete:tmp", "high"),
        ("toolhub:packages", "critical"),
        ("other", "medium"),
    ],
)
def test_a_risk_is_guessed_by_the_name(name: str, risk: str) -> None:
    assert risk_guess(name) == risk


def test_a_capability_is_described_and_shows_who_holds_it(
    eyes: Client, admin: User, persona: Persona
) -> None:
    capabilities_note(["file:delete"])
    row = Capability.objects.get(name="file:delete")
    grant_create(by=admin, persona=persona, capability="file:*", reason="cleaning")
    address = f"/policy/capabilities/{row.pk}/"
    assert eyes.post(address, {"description": "Deletes files", "risk": "critical"}).status_code == 302
    page = eyes.get(address).content.decode()
    assert "Deletes files" in page
    assert "researcher" in page
    assert Event.objects.get(kind="capability.described").actor_name == "admin"
    assert eyes.post(address, {"description": "x", "risk": "none"}).status_code == 422
    row.refresh_from_db()
    assert row.risk == "critical"


def test_who_may_look_may_not_describe(eyes_with: Callable[..., Client], db: None) -> None:
    capabilities_note(["a:b"])
    row = Capability.objects.get(name="a:b")
    looks = eyes_with("policy.view_capability")
    assert looks.get(f"/policy/capabilities/{row.pk}/").status_code == 200
    looks.post(f"/policy/capabilities/{row.pk}/", {"description": "x", "risk": "low"})
    row.refresh_from_db()
    assert row.description == ""


def cells(eyes: Client, query: str = "") -> dict[str, dict[str, str]]:
    context: Any = eyes.get(f"/policy/matrix/{query}").context
    names = [column.name for column in context["columns"]]
    return {
        persona.name: dict(zip(names, [cell.state for cell in line], strict=True))
        for persona, line in context["lines"]
    }


def test_the_matrix_tells_what_each_persona_holds_and_why(
    eyes: Client, admin: User, persona: Persona
) -> None:
    Capability.objects.all().delete()
    capabilities_note(["file:read", "file:delete", "network:a.example", "shell"])
    other = persona_create(by=admin, name="other")
    only = [{"kind": "host", "argument": "/url", "values": ["a.example"]}]
    grant_create(by=admin, persona=persona, capability="file:*", reason="r")
    grant_create(by=admin, persona=persona, capability="network:a.example", reason="r", conditions=only)
    Grant.objects.create(
        persona=other,
        capability="file",
        reason="r",
        granted_by=admin,
        expires_at=timezone.now() - timedelta(1),
    )
    tier = tier_create(by=admin, name="pro")
    tier_change(by=admin, tier=tier, capabilities=["shell"])
    tier_set(by=admin, persona=other, tier=tier)
    restriction_create(by=admin, persona=persona, capability="file:delete", reason="a leak")
    restriction_create(by=admin, tool="echo", capability="file:read", reason="of one tool only")
    assert cells(eyes) == {
        "researcher": {
            "file:delete": "restricted",
            "file:read": "held",
            "network:a.example": "under conditions",
            "shell": "not held",
        },
        "other": {
            "file:delete": "not held",
            "file:read": "not held",
            "network:a.example": "not held",
            "shell": "held",
        },
    }
    assert "a leak" in eyes.get("/policy/matrix/").content.decode()


def test_the_matrix_is_narrowed_and_goes_on_to_further_capabilities(eyes: Client, persona: Persona) -> None:
    Capability.objects.all().delete()
    capabilities_note([f"a:{n:02}" for n in range(13)])
    assert list(cells(eyes, "?capability=a:1")["researcher"]) == ["a:10", "a:11", "a:12"]
    assert len(cells(eyes)["researcher"]) == 10
    assert "from=a%3A10" in eyes.get("/policy/matrix/").content.decode()
    assert list(cells(eyes, "?from=a:10")["researcher"]) == ["a:10", "a:11", "a:12"]
