"""Whether a persona holds a capability: the simulator, a call, a list and the hub's API give one answer."""

import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from execution.engine.requests import CallRequest
from execution.entry.decisions.simulate import call_simulate, capabilities_simulate
from registry.models import ToolVersion
from security.models import Grant, Persona, User
from security.policy.tiers import tier_change, tier_create, tier_set
from security.services import grant_create

pytestmark = pytest.mark.django_db
# What needs each capability of the hub.
ROUTES = {
    "toolhub:personas": "restrictions",
    "toolhub:packages": "packages",
    "toolhub:approvals": "approvals",
}
NEEDS = (*ROUTES, "file:read", "text")
HELD = (
    "*",
    "toolhub",
    "toolhub:*",
    "toolhub:personas",
    "toolhub:packages",
    "file",
    "file:*",
    "file:read",
    "text:*",
)
BY = {
    ("toolhub:personas", "toolhub"),
    ("toolhub:personas", "toolhub:*"),
    ("toolhub:personas", "toolhub:personas"),
    ("toolhub:packages", "toolhub"),
    ("toolhub:packages", "toolhub:*"),
    ("toolhub:packages", "toolhub:packages"),
    ("toolhub:approvals", "toolhub"),
    ("toolhub:approvals", "toolhub:*"),
    ("file:read", "*"),
    ("file:read", "file"),
    ("file:read", "file:*"),
    ("file:read", "file:read"),
    ("text", "*"),
}
CONDITION = {"kind": "equals", "argument": "/text", "values": ["a"]}


@pytest.mark.parametrize("way", ["grant", "tier", "condition"])
def test_every_door_answers_alike(
    client: Client,
    call: Callable[..., Any],
    assign: Callable[[str], None],
    admin: User,
    persona: Persona,
    token_text: str,
    way: str,
) -> None:
    assign("echo")
    versions = ToolVersion.objects.filter(tool__name="echo")
    tier = tier_create(by=admin, name="pro")
    tier_set(by=admin, persona=persona, tier=tier)
    for held in HELD:
        Grant.objects.filter(persona=persona).delete()
        if way == "tier":
            tier_change(by=admin, tier=tier, capabilities=[held])
        else:  # a condition on a capability of the hub is as an older hub let it be made
            conditions = [CONDITION] if way == "condition" else []
            Grant.objects.create(
                persona=persona, capability=held, granted_by=admin, reason="r", conditions=conditions
            )
        for need in NEEDS:
            of_hub = need in ROUTES
            expected = (need, held) in BY and not (of_hub and way != "grant")
            # A process keeps what it read of a version by its digest.
            digest = hashlib.sha256(need.encode()).hexdigest()
            versions.update(required_capabilities=[need], digest=digest)
            found = call_simulate(
                Persona.objects.get(pk=persona.pk), "echo", CallRequest(arguments={"text": "a"})
            )
            answers = {
                "simulator": found.refusal is None,
                "call": call("echo", {"text": "a"}).status_code == 200,
            }
            if way == "grant":
                answers["capabilities"] = capabilities_simulate([need], [held])[0].verdict == "pass"
            if of_hub:
                headers: dict[str, Any] = {"HTTP_AUTHORIZATION": f"Bearer {token_text}"}
                answers["api"] = client.get(f"/api/v1/{ROUTES[need]}", **headers).status_code == 200
            assert answers == dict.fromkeys(answers, expected), (need, held)


def test_the_remedy_for_a_capability_of_the_hub_works(
    client: Client, admin: User, persona: Persona, token_text: str
) -> None:
    grant_create(by=admin, persona=persona, capability="*", reason="r")
    headers: dict[str, Any] = {"HTTP_AUTHORIZATION": f"Bearer {token_text}"}
    refused = client.get("/api/v1/restrictions", **headers).json()
    assert "Grant toolhub:personas to researcher. By name" in refused["error"]["suggestions"][0]
    grant_create(by=admin, persona=persona, capability="toolhub:personas", reason="as it says")
    assert client.get("/api/v1/restrictions", **headers).status_code == 200
