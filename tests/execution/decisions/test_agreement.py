"""The simulator and the execute path agree, over generated personas, rights, versions and arguments."""

from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from execution.engine.requests import CallRequest
from execution.engine.store import known, postgres
from execution.entry.decisions.simulate import call_simulate
from registry.models import Assignment, Package, ToolVersion
from security.models import Grant, Persona, User
from security.policy.models import Flag, FlaggedTool, Limit, Restriction, Standing, Tier, Usage

PAST, LATER = timedelta(hours=-1), timedelta(hours=1)
CONDITIONS: list[list[dict[str, Any]]] = [
    [],
    [{"kind": "equals", "argument": "/value", "values": ["yes"]}],
    [{"kind": "cel", "expression": "arguments.value == 'yes'"}],
    [{"kind": "path", "argument": "/value", "values": ["/data"]}],
]
GRANT = st.tuples(
    st.sampled_from(["fixture:use", "fixture", "fixture:*", "*", "fixtures:use"]),
    st.sampled_from([None, PAST, LATER]),
    st.sampled_from(CONDITIONS),
)
RESTRICTION = st.fixed_dictionaries(
    {
        "persona": st.sampled_from(["mine", "another", None]),
        "tool": st.sampled_from(["fx_echo", "fx_boom"]),
        "capability": st.sampled_from(["", "fixture:use", "fixture", "file:*"]),
        "ends": st.sampled_from([None, PAST, LATER]),
    }
) | st.sampled_from([{"pause": True}, {"pause": True, "tool": "fx_echo"}, {"pause": True, "ends": PAST}])
UNKEPT = known.version_kept.__wrapped__
WORLD = st.fixed_dictionaries(
    {
        "active": st.sampled_from([True, True, True, False]),
        "assigned": st.sampled_from([True, True, True, False]),
        "state": st.sampled_from(["active", "active", "deprecated", "yanked", "quarantined"]),
        "required": st.sampled_from([[], ["fixture:use"], ["fixture:use", "fixture:more"]]),
        "grants": st.lists(GRANT, max_size=3, unique_by=lambda grant: grant[0]),
        "restrictions": st.lists(RESTRICTION, max_size=2),
        "tier": st.sampled_from([None, ([], []), (["fixture:*"], []), ([], ["beta"])]),
        "flag": st.sampled_from([None, None, "off", "tiers", "on"]),
        "used": st.sampled_from([None, None, 0, 1, 2]),
        "isolation": st.sampled_from(["", "", "basic", "strict"]),
        "arguments": st.sampled_from(
            [{"value": "yes"}, {"value": "no"}, {"value": "/data/x"}, {"value": 1}, {}, {"other": 1}]
        ),
        "version": st.sampled_from([None, "1", "1.0.0", "9"]),
    }
)


def arrange(world: dict[str, Any], persona: Persona, admin: User) -> None:
    """Makes the world so by writing its rows, past all services."""
    Persona.objects.filter(pk=persona.pk).update(is_active=world["active"])
    if not world["assigned"]:
        Assignment.objects.all().delete()
    ToolVersion.objects.filter(tool__name="fx_echo").update(
        state=world["state"], required_capabilities=world["required"]
    )
    now = timezone.now()
    tier = None
    if world["tier"]:
        granted, flags = world["tier"]
        tier = Tier.objects.create(name="tier", capabilities=granted, flags=flags)
    Standing.objects.create(persona=persona, isolation=world["isolation"], tier=tier)
    if world["used"] is not None:
        shape = {"kind": "quota", "measure": "calls", "amount": 2, "window_s": 60}
        limit = Limit.objects.create(persona=persona, created_by=admin, **shape)
        ends = timezone.now() + LATER
        Usage.objects.create(limit=limit, whose=persona.pk, used=world["used"], most=2, ends_at=ends)
    if world["flag"]:
        flag = Flag.objects.create(name="beta", state=world["flag"])
        FlaggedTool.objects.create(tool="fx_echo", flag=flag)
    personas = {"mine": persona, "another": Persona.objects.get_or_create(name="another")[0]}
    for one in world["restrictions"]:
        Restriction.objects.create(
            persona=personas.get(one.get("persona")),
            tool=one.get("tool", ""),
            capability=one.get("capability", ""),
            is_pause=one.get("pause", False),
            reason="generated",
            created_by=admin,
            expires_at=now + one["ends"] if one.get("ends") else None,
        )
    for capability, ends, conditions in world["grants"]:
        Grant.objects.create(
            persona=persona,
            capability=capability,
            reason="generated",
            granted_by=admin,
            expires_at=now + ends if ends else None,
            conditions=conditions,
        )


@pytest.mark.django_db
@given(world=WORLD)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_they_agree(
    world: dict[str, Any],
    client: Client,
    token_text: str,
    persona: Persona,
    admin: User,
    fx: Package,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Versions are immutable to the hub, and kept; here each example makes its own of them.
    monkeypatch.setattr(postgres, "version_kept", UNKEPT)
    with transaction.atomic():
        arrange(world, persona, admin)
        persona.refresh_from_db()
        body = {"arguments": world["arguments"]} | ({"version": world["version"]} if world["version"] else {})
        try:
            told = call_simulate(persona, "fx_echo", CallRequest(**body)).as_dict()
        except Exception as error:  # noqa: BLE001 - what the page and the API turn into an answer
            told = {"status": error.known.status, "error": error.as_error(), "decision": None}  # type: ignore[attr-defined]
        answer = client.generic(
            "POST",
            "/api/v1/tools/fx_echo/execute",
            orjson.dumps(body),
            content_type="",
            HTTP_AUTHORIZATION=f"Bearer {token_text}",
        )
        happened = answer.json()
        transaction.set_rollback(True)
    assert told["status"] == answer.status_code, (told, happened)
    if answer.status_code == 200:
        assert told["warnings"] == happened["metadata"]["warnings"]
        return
    assert told["error"]["code"] == happened["error"]["code"]
    if answer.status_code in {403, 429}:
        assert compared(told["decision"]) == compared(happened["decision"])


def compared(decision: dict[str, Any]) -> list[dict[str, Any]]:
    """Without the token, which a question has none of, and the words about limits: they are counted last."""
    checks: list[dict[str, Any]] = decision["checks"]
    return [check for check in checks if check["name"] not in {"token", "limits"}]
