"""REST for personas and their rights; and an agent that tries to give, or to get, more than it holds."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit.models import Event
from registry.models import Assignment, Package, Tool
from registry.releases.overlay import tool_overlay_edit
from registry.services import assignment_create
from security.accounts.services import person_leave
from security.lineage import LENGTH_MAX
from security.models import Grant, OutputPattern, Persona, Token, User
from security.patterns import pattern_add
from security.policy.limits import limit_create
from security.policy.models import Flag, Limit, Restriction, Standing, Tier
from security.policy.services import isolation_set, restriction_create
from security.policy.tiers import flag_create, flag_require, tier_change, tier_create, tier_set
from security.services import (
    grant_create,
    persona_create,
    persona_switch,
    token_create,
    token_revoke,
    token_rotate,
)
from security.tokens import principal_of, token_digest, token_text

pytestmark = pytest.mark.django_db
Manage = Callable[..., Any]
SOON = datetime(2190, 1, 1, tzinfo=UTC)
IN_REPORTS = {"kind": "path", "argument": "/path", "values": ["/srv/reports"]}


@pytest.fixture
def manager(manage: Manage, admin: User, published: None) -> Persona:
    """The persona behind `manage`: it reads reports until a time, and sees echo."""
    mine = Persona.objects.get(name="manager")
    give = {"by": admin, "persona": mine, "reason": "works"}
    grant_create(capability="toolhub:packages", **give)
    grant_create(capability="file:read", conditions=[IN_REPORTS], expires_at=SOON, **give)
    grant_create(capability="net", **give)
    assignment_create(by=admin, persona=mine, tool=Tool.objects.get(name="echo"))
    return mine


def kept() -> list[Any]:
    """Everything that decides calls, and the record without refusals."""
    models = (
        Tool,
        Persona,
        Grant,
        Token,
        Assignment,
        Standing,
        Tier,
        Flag,
        Restriction,
        Limit,
        OutputPattern,
    )
    rows: list[Any] = [list(model.objects.order_by("pk").values()) for model in models]  # type: ignore[attr-defined]
    for token in rows[3]:
        token.pop("last_used_at")
    return [*rows, Event.objects.exclude(kind="run.refused").count()]


def test_a_persona_is_made_given_rights_and_a_token_and_all_of_it_is_taken_back(
    manage: Manage, manager: Persona, client: Client
) -> None:
    made = manage("POST", "personas", name="reader", title="Reads")
    assert (made.status_code, made.json()["title"], made.json()["active"]) == (201, "Reads", True)
    assert manage("POST", "personas", name="reader").status_code == 409
    at = "personas/reader"
    assert manage("PATCH", at, description="Reads reports").json()["description"] == "Reads reports"
    seen = manage("POST", f"{at}/assignments", tool="echo")
    assert (seen.status_code, seen.json()["tool"], seen.json()["by"]) == (201, "echo", "admin")
    given = {"capability": "file:read", "reason": "reads", "conditions": [IN_REPORTS]}
    grant = manage("POST", f"{at}/grants", **given, expires_at="2189-12-31T00:00:00Z")
    assert grant.status_code == 201
    assert manage("POST", f"{at}/grants", capability="net:get", reason="r").status_code == 201
    token = manage("POST", f"{at}/tokens", name="CI", days=3)
    assert (token.status_code, token["Cache-Control"]) == (201, "no-store")
    bearer: dict[str, Any] = {"HTTP_AUTHORIZATION": f"Bearer {token.json()['token']}"}
    told = client.get(f"/api/v1/{at}", **bearer).json()
    assert {one["capability"] for one in told["grants"]} == {"file:read", "net:get"}
    assert [one["name"] for one in manage("GET", "personas?q=read").json()["personas"]] == ["reader"]
    for rows, path in (("assignments", seen), ("grants", grant), ("tokens", token)):
        (row, *_) = [
            one for one in manage("GET", f"{at}/{rows}").json()[rows] if one["id"] == path.json()["id"]
        ]
        assert "token" not in row
        assert manage("DELETE", f"{at}/{rows}/{row['id']}").status_code == 204
    assert client.get(f"/api/v1/{at}", **bearer).status_code == 401
    assert manage("DELETE", f"{at}/grants/{grant.json()['id']}").status_code == 404
    assert manage("PATCH", at, active=False).json()["active"] is False
    kinds = set(Event.objects.values_list("kind", flat=True))
    assert {"persona.created", "persona.described", "persona.switched_off"} <= kinds
    assert {"assignment.deleted", "grant.revoked", "token.revoked"} <= kinds


def test_a_token_is_rotated_with_overlap_and_an_agents_own_does_not_live_longer(
    manage: Manage, manager: Persona, client: Client
) -> None:
    own = manager.tokens.get()
    first = manage("POST", f"personas/manager/tokens/{own.pk}/rotate", overlap_hours=2, days=300)
    assert first.status_code == 201
    old, new = Token.objects.get(pk=own.pk), Token.objects.get(pk=first.json()["id"])
    assert new.expires_at == own.expires_at
    assert timedelta(hours=1) < old.expires_at - timezone.now() <= timedelta(hours=2)
    headers: dict[str, Any] = {"HTTP_AUTHORIZATION": f"Bearer {first.json()['token']}"}
    for call in (lambda: manage("GET", "personas"), lambda: client.get("/api/v1/personas", **headers)):
        assert call().status_code == 200
    revoked = manage("DELETE", f"personas/manager/tokens/{new.pk}")
    assert revoked.status_code == 204
    assert client.get("/api/v1/personas", **headers).status_code == 401
    assert '"old":"' + own.prefix in Event.objects.get(kind="token.rotated").canonical


ENDS: dict[str, Callable[[Token, User], object]] = {
    "revoked": lambda maker, admin: token_revoke(by=admin, token=maker),
    "revoked past all services": lambda maker, _: Token.objects.filter(pk=maker.pk).update(
        revoked_at=timezone.now()
    ),
    "its person leaves": lambda maker, admin: person_leave(
        by=admin, person=maker.responsible, successor=None
    ),
    "its person leaves past all services": lambda maker, _: User.objects.filter(
        pk=maker.responsible_id
    ).update(is_active=False),
    "its persona is switched off": lambda maker, admin: persona_switch(
        by=admin, persona=maker.persona, on=False
    ),
}


@pytest.mark.parametrize("end", ENDS)
def test_what_an_agent_made_with_its_token_ends_with_it(
    manage: Manage, manager: Persona, persona: Persona, admin: User, client: Client, end: str
) -> None:
    """Also what was made with that, and what another person answers for by now; and what waits does not start."""
    made = manage("POST", "personas/researcher/tokens", name="CI", days=300).json()
    maker = manager.tokens.get()
    token = Token.objects.get(pk=made["id"])
    assert (made["made_with"], token.made_with, token.expires_at) == (maker.prefix, maker, maker.expires_at)
    far_text = token_text()
    far = Token.objects.create(
        persona=persona, responsible=admin, name="far", prefix=far_text[:12], digest=token_digest(far_text),
        expires_at=token.expires_at, made_with=token,
    )  # fmt: skip
    boss = User.objects.create_superuser("boss")
    Token.objects.filter(pk=maker.pk).update(responsible=boss)
    maker.refresh_from_db()

    def statuses() -> list[int]:
        return [
            client.get("/api/v1/tools", HTTP_AUTHORIZATION=f"Bearer {text}").status_code
            for text in (made["token"], far_text)
        ]

    assert statuses() == [200, 200]
    ENDS[end](maker, admin)
    assert statuses() == [401, 401]
    assert [principal_of(pk)[1] for pk in (token.pk, far.pk)] == ["revoked", "revoked"]


def test_a_rotated_tokens_offspring_goes_on_with_the_new_one(
    manage: Manage, manager: Persona, persona: Persona, admin: User, client: Client
) -> None:
    made = manage("POST", "personas/researcher/tokens", name="CI").json()
    new, _ = token_rotate(by=admin, token=manager.tokens.get(), overlap_hours=0)
    headers: dict[str, Any] = {"HTTP_AUTHORIZATION": f"Bearer {made['token']}"}
    assert client.get("/api/v1/tools", **headers).status_code == 200
    token_revoke(by=admin, token=new)
    assert client.get("/api/v1/tools", **headers).status_code == 401
    assert Token.objects.get(pk=made["id"]).state == "revoked"
    assert Event.objects.filter(kind="token.revoked").count() == 2


def test_an_agent_that_rotates_its_token_ends_with_the_one_that_it_had(
    manage: Manage, manager: Persona, admin: User, client: Client
) -> None:
    own = manager.tokens.get()
    new = manage("POST", f"personas/manager/tokens/{own.pk}/rotate", overlap_hours=2).json()
    headers: dict[str, Any] = {"HTTP_AUTHORIZATION": f"Bearer {new['token']}"}
    assert client.get("/api/v1/personas", **headers).status_code == 200
    token_revoke(by=admin, token=own)
    assert client.get("/api/v1/personas", **headers).status_code == 401


def test_an_agent_does_not_rotate_for_ever(manage: Manage, manager: Persona, admin: User) -> None:
    own = manager.tokens.get()
    before = None
    for number in range(LENGTH_MAX - 1):
        before = Token.objects.create(
            persona=manager, responsible=admin, name="r", prefix=f"thp_{number}", digest=bytes([number, 1]),
            expires_at=own.expires_at, made_with=before,
        )  # fmt: skip
    Token.objects.filter(pk=own.pk).update(made_with=before)
    refused = manage("POST", f"personas/manager/tokens/{own.pk}/rotate")
    assert (refused.status_code, refused.json()["error"]["suggestions"]) == (
        409,
        ["Let a person make a new token."],
    )


ATTACKS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a grant to itself": ("POST", "personas/manager/grants", {"capability": "net:get", "reason": "r"}),
    "a tool to itself": ("POST", "personas/manager/assignments", {"tool": "echo"}),
    "its own grant's end": ("DELETE", "personas/manager/grants/{own_grant}", {}),
    "another token of its own": ("POST", "personas/manager/tokens", {"name": "more", "days": 366}),
    "more than it holds": ("POST", "personas/researcher/grants", {"capability": "file:write", "reason": "r"}),
    "the whole of which it holds a part": (
        "POST",
        "personas/researcher/grants",
        {"capability": "file", "reason": "r", "expires_at": "2189-01-01T00:00:00Z"},
    ),
    "without the condition": (
        "POST",
        "personas/researcher/grants",
        {"capability": "file:read", "reason": "r", "expires_at": "2189-01-01T00:00:00Z"},
    ),
    "for longer": (
        "POST",
        "personas/researcher/grants",
        {"capability": "file:read", "reason": "r", "conditions": [IN_REPORTS]},
    ),
    "management": ("POST", "personas/researcher/grants", {"capability": "toolhub:personas", "reason": "r"}),
    "approval": ("POST", "personas/researcher/grants", {"capability": "approved:echo", "reason": "r"}),
    "a tool that it does not see": ("POST", "personas/researcher/assignments", {"tool": "hash"}),
    "a package of which it sees a tool": (
        "POST",
        "personas/researcher/assignments",
        {"package": "toolhub-data"},
    ),
    "a token of a persona that holds more": ("POST", "personas/strong/tokens", {"name": "mine"}),
    "a rotated token of such a one": ("POST", "personas/strong/tokens/{strong_token}/rotate", {}),
    "a token of a persona that sees more": ("POST", "personas/seeing/tokens", {"name": "mine"}),
    "a token of a persona whose tier has more": ("POST", "personas/paying/tokens", {"name": "mine"}),
    "a token of another manager": ("POST", "personas/other/tokens", {"name": "mine"}),
    "a tier that grants more": ("POST", "tiers", {"name": "all", "capabilities": ["*"]}),
    "a tier made wider": ("PATCH", "tiers/gold", {"capabilities": ["db", "file:write"]}),
    "a persona on such a tier": ("PATCH", "personas/researcher", {"tier": "gold"}),
    "a flag that it lacks, to a tier": ("PATCH", "tiers/gold", {"flags": ["beta"]}),
    "a persona on a tier that has such a flag": ("PATCH", "personas/researcher", {"tier": "testers"}),
    "a new tier with such a flag": ("POST", "tiers", {"name": "mine", "flags": ["beta"]}),
    "another token of its own, rotated": (
        "POST",
        "personas/manager/tokens/{own_longer}/rotate",
        {"days": 300},
    ),
    "a flag of a tool that it calls": ("PATCH", "flags/beta", {"state": "on"}),
    "no flag for a tool that it calls": ("PUT", "tools/echo/flag", {"flag": None}),
    "a rule of a tool that it calls": ("DELETE", "restrictions/{echo_rule}", {}),
    "a rule for everybody": ("DELETE", "restrictions/{everybody}", {}),
    "a limit of a tool that it calls": ("DELETE", "limits/{echo_limit}", {}),
    "no approval of what it calls": ("PUT", "tools/echo/overlay", {"approval": False}),
    "no checks of what it sends": ("PUT", "tools/echo/overlay", {"approval": True, "contentChecks": "off"}),
    "what its output is searched for": ("DELETE", "output-patterns/{pattern}", {}),
}


@pytest.fixture
def places(admin: User, manager: Persona, persona: Persona) -> dict[str, int]:
    """What the attacks aim at."""
    strong, seeing, paying, other = (
        persona_create(by=admin, name=name) for name in ("strong", "seeing", "paying", "other")
    )
    give = {"by": admin, "reason": "r"}
    grant_create(persona=strong, capability="file:read", expires_at=SOON, **give)
    grant_create(persona=other, capability="toolhub:personas", **give)
    assignment_create(by=admin, persona=seeing, package=Package.objects.get(name="toolhub-data"))
    gold = tier_create(by=admin, name="gold")
    tier_change(by=admin, tier=gold, capabilities=["db"])
    tier_set(by=admin, persona=paying, tier=gold)
    flag_require(by=admin, tool="echo", flag=flag_create(by=admin, name="beta", state="tiers"))
    tier_change(by=admin, tier=tier_create(by=admin, name="testers"), flags=["beta"])
    limit = limit_create(by=admin, kind="quota", measure="calls", amount=5, window_s=60, tool="echo")
    tool_overlay_edit(by=admin, tool=Tool.objects.get(name="echo"), overlay={"approval": True})
    return {
        "own_grant": manager.grants.get(capability="net").pk,
        "own_longer": token_create(by=admin, persona=manager, name="longer", days=300)[0].pk,
        "strong_token": token_create(by=admin, persona=strong, name="theirs")[0].pk,
        "echo_rule": restriction_create(by=admin, tool="echo", capability="file", reason="r").pk,
        "everybody": restriction_create(by=admin, capability="file:delete", reason="r").pk,
        "echo_limit": limit.pk,
        "pattern": pattern_add(by=admin, name="Keys", pattern="key-[0-9]+").pk,
    }


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_agent_gives_no_more_than_it_holds(manage: Manage, places: dict[str, int], attack: str) -> None:
    method, path, body = ATTACKS[attack]
    before = kept()
    refused = manage(method, path.format(**places), **body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "PERMISSION_DENIED"), (
        refused.content
    )
    assert refused.json()["error"]["suggestions"]
    assert kept() == before


@pytest.mark.parametrize("bound", ["restriction", "limit", "isolation"])
def test_who_is_held_by_rules_of_its_own_gives_nothing(
    manage: Manage, manager: Persona, persona: Persona, admin: User, bound: str
) -> None:
    """Else it would get round them with a token of a persona that they do not hold."""
    wish = {"capability": "net:get", "reason": "r"}
    assert manage("POST", "personas/researcher/grants", **wish).status_code == 201
    Grant.objects.filter(persona=persona).delete()
    match bound:
        case "restriction":
            restriction_create(by=admin, persona=manager, capability="net:post", reason="r")
        case "limit":
            limit_create(by=admin, kind="quota", measure="calls", amount=5, window_s=60, persona=manager)
        case _:
            isolation_set(by=admin, persona=manager, isolation="basic")
    before = kept()
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "personas/researcher/grants", wish),
        ("POST", "personas/researcher/tokens", {"name": "mine"}),
        ("POST", "personas/researcher/assignments", {"tool": "echo"}),
    ]
    for method, path, body in calls:
        refused = manage(method, path, **body)
        assert refused.status_code == 403
        assert "of its own" in refused.json()["error"]["message"]
    assert kept() == before


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("personas", {"name": "Reader"}, "/name"),
        ("personas/researcher/assignments", {"tool": "no_such"}, "/tool"),
        ("personas/researcher/assignments", {"package": "no\0such"}, "/package"),
        ("personas/researcher/assignments", {}, ""),
        ("personas/researcher/grants", {"capability": "fil*", "reason": "r"}, "/capability"),
        ("personas/researcher/grants", {"capability": "net", "reason": ""}, "/reason"),
        (
            "personas/researcher/grants",
            {"capability": "net", "reason": "r", "conditions": [{"kind": "cel", "expression": "1 +"}]},
            "/conditions/0/expression",
        ),
        ("personas/researcher/tokens", {"name": "CI", "days": 0}, "/days"),
        ("output-patterns", {"name": "all", "pattern": ".*"}, "/pattern"),
    ],
)
def test_what_does_not_fit_is_told_where(
    manage: Manage, manager: Persona, persona: Persona, path: str, body: dict[str, Any], pointer: str
) -> None:
    before = kept()
    answer = manage("POST", path, **body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)
    assert kept() == before
