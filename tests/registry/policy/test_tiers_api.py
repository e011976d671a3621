"""REST for tiers and flags; and what they do to calls."""

from collections.abc import Callable
from typing import Any

import pytest

from audit.models import Event
from execution.models import Run
from registry.models import ToolVersion
from security.models import Grant, Persona, User
from security.policy.models import Flag, Standing, Tier
from security.policy.tiers import (
    flag_create,
    flag_require,
    flag_switch,
    tier_change,
    tier_create,
    tier_set,
)
from security.services import grant_create

pytestmark = pytest.mark.django_db
Manage = Callable[..., Any]
Call = Callable[..., Any]
Assign = Callable[[str], None]


@pytest.fixture
def trusted(admin: User) -> None:
    """The manager may give the flag beta: its own tier has it."""
    flag_create(by=admin, name="beta", state="tiers")
    tier = tier_create(by=admin, name="testers")
    tier_change(by=admin, tier=tier, flags=["beta"])
    tier_set(by=admin, persona=Persona.objects.get(name="manager"), tier=tier)


def failed(answer: Any) -> dict[str, str]:
    checks = answer.json()["decision"]["checks"]
    found: dict[str, str] = next(check for check in checks if check["verdict"] == "fail")
    return found


def test_a_tool_that_needs_a_flag_is_called_by_personas_whose_tier_has_it(
    manage: Manage, trusted: None, call: Call, assign: Assign, admin: User, persona: Persona
) -> None:
    assign("echo")
    assert manage("POST", "tiers", name="free").status_code == 201
    assert manage("POST", "tiers", name="pro", flags=["beta"]).status_code == 403
    pro = tier_create(by=admin, name="pro")
    tier_change(by=admin, tier=pro, flags=["beta"])
    assert manage("PUT", "tools/echo/flag", flag="beta").json() == {"flag": "beta"}
    assert "researcher is on none" in failed(call("echo", {"text": "a"}))["reason"]
    assert manage("PATCH", "personas/researcher", tier="free").json()["tier"] == "free"
    refused = call("echo", {"text": "a"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "PERMISSION_DENIED")
    check = failed(refused)
    assert check["reason"] == "echo needs the flag beta, which the tier free does not have."
    assert check["remedy"] == "Move researcher to a tier that has the flag beta."
    assert (check["name"], check["who"]) == ("flag", "an admin")
    assert not Run.objects.exists()
    assert manage("PATCH", "personas/researcher", tier="pro").status_code == 403
    tier_set(by=admin, persona=persona, tier=pro)
    assert call("echo", {"text": "a"}).status_code == 200
    manage("PATCH", "flags/beta", state="off")
    refused = call("echo", {"text": "a"})
    assert refused.status_code == 403
    assert failed(refused)["reason"] == "echo needs the flag beta, which is off."
    manage("PATCH", "personas/researcher", tier=None)
    assert manage("PATCH", "flags/beta", state="on").status_code == 403
    flag_switch(by=admin, flag=Flag.objects.get(), state="on")
    assert call("echo", {"text": "a"}).status_code == 200


def test_a_tier_grants_capabilities_and_the_record_says_so(
    manage: Manage, call: Call, assign: Assign, admin: User
) -> None:
    assign("echo")
    # It gives no more than it holds.
    grant_create(by=admin, persona=Persona.objects.get(name="manager"), capability="text", reason="r")
    ToolVersion.objects.filter(tool__name="echo").update(required_capabilities=["text:echo"])
    manage("POST", "tiers", name="pro", capabilities=["text:*"])
    assert call("echo", {"text": "a"}).json()["error"]["code"] == "CAPABILITY_MISSING"
    manage("PATCH", "personas/researcher", tier="pro")
    assert call("echo", {"text": "a"}).status_code == 200
    assert "Held: text:echo by text:* of the tier pro." in Event.objects.get(kind="run.accepted").canonical
    manage("PATCH", "tiers/pro", capabilities=[])
    assert call("echo", {"text": "a"}).status_code == 403


def test_what_is_in_use_is_not_deleted(manage: Manage, trusted: None, published: None, admin: User) -> None:
    manage("POST", "tiers", name="pro")
    manage("PATCH", "personas/researcher", tier="pro")
    for path in ("tiers/pro", "flags/beta"):
        refused = manage("DELETE", path)
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "IN_USE")
    manage("PATCH", "personas/researcher", tier=None)
    assert manage("DELETE", "tiers/pro").status_code == 204
    tier_set(by=admin, persona=Persona.objects.get(name="manager"), tier=None)
    assert manage("DELETE", "tiers/testers").status_code == 204
    manage("PUT", "tools/echo/flag", flag="beta")
    assert manage("DELETE", "flags/beta").status_code == 409
    assert manage("PUT", "tools/echo/flag", flag=None).status_code == 403
    flag_require(by=admin, tool="echo", flag=None)
    assert manage("DELETE", "flags/beta").status_code == 204
    assert (Tier.objects.count(), Flag.objects.count()) == (0, 0)
    kinds = set(Event.objects.values_list("kind", flat=True))
    assert {"tier.created", "tier.changed", "tier.deleted", "flag.created", "flag.deleted"} <= kinds
    assert {"persona.tier_set", "tool.flag_set"} <= kinds


@pytest.mark.parametrize(
    ("method", "path", "body", "pointer"),
    [
        ("POST", "tiers", {"name": "Pro"}, "/name"),
        ("POST", "tiers", {"name": "pro", "flags": ["none"]}, "/flags/0"),
        ("POST", "tiers", {"name": "pro", "flags": ["a\0b"]}, "/flags/0"),
        ("POST", "tiers", {"name": "pro", "capabilities": ["a", "fil*"]}, "/capabilities/1"),
        ("POST", "tiers", {"name": "free"}, "/name"),
        ("POST", "flags", {"name": "beta", "state": "perhaps"}, "/state"),
        ("PUT", "tools/echo/flag", {"flag": "none"}, "/flag"),
        ("PUT", "tools/no_such/flag", {"flag": None}, "/tool"),
        ("PATCH", "personas/researcher", {"tier": "none"}, "/tier"),
    ],
)
def test_what_does_not_fit_is_told_where(
    manage: Manage, published: None, method: str, path: str, body: dict[str, Any], pointer: str
) -> None:
    manage("POST", "tiers", name="free")
    answer = manage(method, path, **body)
    assert answer.status_code in {409, 422}
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert (Tier.objects.count(), Flag.objects.count(), Standing.objects.count()) == (1, 0, 0)


def test_without_the_capability_every_door_is_shut(manage: Manage, published: None) -> None:
    manage("POST", "flags", name="beta")
    manage("POST", "tiers", name="pro")
    events = Event.objects.count()
    Grant.objects.all().delete()
    for method, path, body in (
        ("GET", "tiers", {}),
        ("POST", "tiers", {"name": "free"}),
        ("GET", "tiers/pro", {}),
        ("PATCH", "tiers/pro", {"capabilities": ["*"]}),
        ("DELETE", "tiers/pro", {}),
        ("GET", "flags", {}),
        ("POST", "flags", {"name": "gamma"}),
        ("PATCH", "flags/beta", {"state": "on"}),
        ("DELETE", "flags/beta", {}),
        ("PUT", "tools/echo/flag", {"flag": "beta"}),
        ("PATCH", "personas/researcher", {"tier": "pro"}),
    ):
        assert manage(method, path, **body).status_code == 403, path
    assert (Tier.objects.get().capabilities, Flag.objects.get().state) == ([], "off")
    assert Event.objects.count() == events
