"""The pages of tiers and feature flags."""

from collections.abc import Callable

import pytest
from django.test import Client

from audit.models import Event
from security.models import Persona, User
from security.policy.models import Flag, FlaggedTool, Standing, Tier
from security.policy.tiers import flag_create, tier_create

Assign = Callable[[str], None]


def test_a_tier_is_made_changed_and_given_to_a_persona(eyes: Client, admin: User, persona: Persona) -> None:
    flag_create(by=admin, name="beta")
    form = {"name": "pro", "description": "Paid", "capabilities": "file:*\n\nnetwork\n", "flags": "beta"}
    assert eyes.post("/policy/tiers/new/", form)["Location"] == "/policy/tiers/pro/"
    tier = Tier.objects.get()
    assert (tier.capabilities, tier.flags) == (["file:*", "network"], ["beta"])
    assert eyes.post("/personas/researcher/standing/", {"tier": "pro", "isolation": ""}).status_code == 302
    assert Standing.objects.get().tier == tier
    assert "researcher" in eyes.get("/policy/tiers/pro/").content.decode()
    eyes.post("/policy/tiers/pro/", {"description": "Paid", "capabilities": "", "flags": ""})
    tier.refresh_from_db()
    assert (tier.capabilities, tier.flags) == ([], [])
    assert "Personas are on the tier" in eyes.post("/policy/tiers/pro/delete/", follow=True).content.decode()
    eyes.post("/personas/researcher/standing/", {"tier": "", "isolation": ""})
    eyes.post("/policy/tiers/pro/delete/")
    assert not Tier.objects.exists()


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"name": "Pro"}, "name"),
        ({"name": "free"}, "name"),
        ({"name": "pro", "capabilities": "fil*"}, "capabilities"),
        ({"name": "pro", "flags": "none"}, "flags"),
    ],
)
def test_a_tier_that_does_not_fit_is_told_at_its_field(
    eyes: Client, admin: User, form: dict[str, str], field: str
) -> None:
    tier_create(by=admin, name="free")
    answer = eyes.post("/policy/tiers/new/", form)
    assert answer.status_code == 422
    assert field in answer.context["form"].errors
    assert Tier.objects.count() == 1


def test_a_flag_is_made_needed_and_switched(eyes: Client, assign: Assign) -> None:
    assign("echo")
    assert (
        eyes.post("/policy/flags/new/", {"name": "beta", "state": "off"})["Location"] == "/policy/flags/beta/"
    )
    assert eyes.post("/policy/flags/beta/tools/", {"tool": "echo"}).status_code == 302
    assert eyes.post("/policy/flags/beta/tools/", {"tool": "no_such"}).status_code == 422
    assert FlaggedTool.objects.get().tool == "echo"
    page = eyes.get("/tools/echo/callers/").content.decode()
    assert "echo needs the flag beta, which is off." in page
    eyes.post("/policy/flags/beta/", {"state": "on"})
    assert Flag.objects.get().state == "on"
    assert "which is off" not in eyes.get("/tools/echo/callers/").content.decode()
    assert "is needed by echo" in eyes.post("/policy/flags/beta/delete/", follow=True).content.decode()
    eyes.post("/policy/flags/beta/tools/", {"tool": "echo", "away": "yes"})
    eyes.post("/policy/flags/beta/delete/")
    assert not Flag.objects.exists()
    assert Event.objects.filter(kind="tool.flag_set").count() == 2


def test_who_may_look_may_not_change(eyes_with: Callable[..., Client], admin: User) -> None:
    tier_create(by=admin, name="pro")
    flag_create(by=admin, name="beta")
    events = Event.objects.count()
    looks = eyes_with("policy.view_tier", "policy.view_flag")
    assert looks.get("/policy/tiers/pro/").status_code == looks.get("/policy/flags/beta/").status_code == 200
    looks.post("/policy/tiers/pro/", {"capabilities": "*", "flags": "", "description": ""})
    looks.post("/policy/flags/beta/", {"state": "on"})
    for path in ("tiers/new/", "tiers/pro/delete/", "flags/new/", "flags/beta/tools/", "flags/beta/delete/"):
        assert looks.post(f"/policy/{path}", {"name": "x", "tool": "echo"}).status_code == 404
    assert (Tier.objects.get().capabilities, Flag.objects.get().state) == ([], "off")
    assert Event.objects.count() == events
