"""Every refusal of a call, walked: do what its remedy says, call again, and the call is allowed."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from execution.features.approvals.decide import approval_grant
from execution.models import Approval
from registry.models import Release, Tool, ToolVersion
from registry.releases.lifecycle import release_quarantine, release_restore
from registry.releases.overlay import tool_overlay_edit
from registry.services import assignment_create
from security.decisions import RULES
from security.models import Grant, Persona, User
from security.policy.limits import limit_create, limit_delete
from security.policy.models import Flag, Limit, Restriction
from security.policy.services import pause_begin, restriction_create, restriction_lift
from security.policy.tiers import flag_create, flag_require, flag_switch, tier_change, tier_create, tier_set
from security.services import grant_change, grant_create, persona_create, persona_switch, token_create

pytestmark = pytest.mark.django_db
IN_A = {"kind": "equals", "argument": "/text", "values": ["other"]}
Act = Callable[[User, Persona], object]


@dataclass(frozen=True)
class Refusal:
    """What refuses the call, the words of the remedy, and what they say, literally."""

    rule: str
    refuse: Act
    remedy: str
    do: Act


def _needs(admin: User, persona: Persona) -> None:
    # A process keeps what it read of a version by its digest.
    versions = ToolVersion.objects.filter(tool__name="echo")
    versions.update(required_capabilities=["file:read"], digest="f" * 64)


def _grant(admin: User, persona: Persona) -> Grant:
    return grant_create(by=admin, persona=persona, capability="file:read", reason="as the remedy says")


def _expired(admin: User, persona: Persona) -> None:
    _needs(admin, persona)
    row = grant_create(by=admin, persona=persona, capability="file:read", reason="r")
    Grant.objects.filter(pk=row.pk).update(expires_at=timezone.now() - timedelta(seconds=1))


def _renew(admin: User, persona: Persona) -> None:
    until = timezone.now() + timedelta(days=1)
    grant_change(by=admin, grant=Grant.objects.get(capability="file:read"), expires_at=until)


def _elsewhere(admin: User, persona: Persona) -> None:
    _needs(admin, persona)
    grant_create(by=admin, persona=persona, capability="file:read", reason="r", conditions=[IN_A])


def _widen(admin: User, persona: Persona) -> None:
    wider = {**IN_A, "values": ["other", "a"]}
    grant_change(by=admin, grant=Grant.objects.get(capability="file:read"), conditions=[wider])


def _second(admin: User, persona: Persona) -> None:
    wish = {**IN_A, "values": ["a"]}
    grant_create(by=admin, persona=persona, capability="file:read", reason="r", conditions=[wish])


def _flag(state: str) -> Act:
    def refuse(admin: User, persona: Persona) -> None:
        flag_require(by=admin, tool="echo", flag=flag_create(by=admin, name="beta", state=state))

    return refuse


def _move(admin: User, persona: Persona) -> None:
    tier = tier_create(by=admin, name="testers")
    tier_change(by=admin, tier=tier, flags=["beta"])
    tier_set(by=admin, persona=persona, tier=tier)


def _limit(admin: User, persona: Persona, amount: int = 1) -> Limit:
    wish: dict[str, Any] = {"kind": "quota", "measure": "calls", "window_s": 3600, "persona": persona}
    return limit_create(by=admin, amount=amount, **wish)


def _higher(admin: User, persona: Persona) -> None:
    limit_delete(by=admin, limit=Limit.objects.get())
    _limit(admin, persona, 9)


def _lift(admin: User, persona: Persona) -> None:
    restriction_lift(by=admin, restriction=Restriction.objects.get())


def _release() -> Release:
    return ToolVersion.objects.get(tool__name="echo").release


def _tool() -> Tool:
    return Tool.objects.get(name="echo")


REFUSALS = {
    "switched off": Refusal(
        "persona",
        lambda admin, persona: persona_switch(by=admin, persona=persona, on=False),
        "Switch the persona on.",
        lambda admin, persona: persona_switch(by=admin, persona=persona, on=True),
    ),
    "not assigned": Refusal(
        "assignment",
        lambda admin, persona: persona.assignments.all().delete(),
        "Assign echo, its package or a collection of it to researcher.",
        lambda admin, persona: assignment_create(by=admin, persona=persona, tool=_tool()),
    ),
    "paused": Refusal(
        "pause",
        lambda admin, persona: pause_begin(by=admin, tool="echo", reason="r"),
        "End the pause.",
        _lift,
    ),
    "quarantined": Refusal(
        "version",
        lambda admin, persona: release_quarantine(by=admin, release=_release(), reason="odd"),
        "Review it, and restore it.",
        lambda admin, persona: release_restore(by=admin, release=_release()),
    ),
    "missing": Refusal("capabilities", _needs, "Grant file:read to researcher.", _grant),
    "expired": Refusal("capabilities", _expired, "Grant file:read to researcher.", _grant),
    "expired, renewed": Refusal("capabilities", _expired, "Or renew the grant of file:read.", _renew),
    "elsewhere": Refusal("capabilities", _elsewhere, "Grant file:read to researcher.", _grant),
    "elsewhere, changed": Refusal("capabilities", _elsewhere, "Or change the grant of file:read.", _widen),
    "elsewhere, a second": Refusal("capabilities", _elsewhere, "Grant file:read to researcher.", _second),
    "flag off": Refusal(
        "flag",
        _flag("off"),
        "Switch the flag beta on.",
        lambda admin, persona: flag_switch(by=admin, flag=Flag.objects.get(), state="on"),
    ),
    "flag of tiers": Refusal(
        "flag", _flag("tiers"), "Move researcher to a tier that has the flag beta.", _move
    ),
    "restricted": Refusal(
        "restrictions",
        lambda admin, persona: restriction_create(by=admin, tool="echo", reason="r"),
        "Lift the restriction on calls with echo.",
        _lift,
    ),
    "used up": Refusal("limits", _limit, "To raise it, set a higher one and delete this one.", _higher),
}
# Tried elsewhere: a token is read before the decision, content takes arguments that look like attacks
# (tests/content/test_calls.py), and an approval is asked for, not refused (below).
ELSEWHERE = {"_token", "_content", "_approval"}


def test_every_rule_is_walked() -> None:
    walked = {one.rule for one in REFUSALS.values()}
    rules = {rule.__name__ for rule in RULES} - ELSEWHERE
    assert {rule.removeprefix("_").replace("version_state", "version") for rule in rules} == walked


def test_what_each_refusal_says_lets_the_call_pass(
    call: Callable[..., Any], assign: Callable[[str], None], admin: User, persona: Persona, subtests: Any
) -> None:
    assign("echo")
    for name, one in REFUSALS.items():
        with subtests.test(name), transaction.atomic():
            one.refuse(admin, persona)
            if one.rule == "limits":
                assert call("echo", {"text": "a"}).status_code == 200
            refused = call("echo", {"text": "a"})
            assert refused.status_code in {403, 404, 429}
            if one.rule not in {"assignment", "persona"}:  # those do not show the decision to an agent
                checks = refused.json()["decision"]["checks"]
                check = next(check for check in checks if check["verdict"] == "fail")
                assert check["name"] == one.rule
                assert one.remedy in check["remedy"]
                assert check["who"]
            one.do(admin, persona)
            again = call("echo", {"text": "a"})
            assert again.status_code == 200, again.json()
            transaction.set_rollback(True)


def test_an_approval_that_is_asked_for_can_be_given_once_or_in_advance(
    call: Callable[..., Any], assign: Callable[[str], None], admin: User, persona: Persona
) -> None:
    assign("echo")
    tool_overlay_edit(by=admin, tool=_tool(), overlay={"approval": True})
    assert call("echo", {"text": "a"}).status_code == 202
    other = User.objects.create_superuser("other")
    approval_grant(by=other, approval_id=Approval.objects.get().pk)
    grant_create(
        by=other,
        persona=persona,
        capability="approved:echo",
        reason="as the remedy says",
        expires_at=timezone.now() + timedelta(hours=1),
    )
    assert call("echo", {"text": "a"}).status_code == 200


def test_a_second_folder_is_added_over_the_api_and_the_same_grant_twice_names_its_change(
    admin: User, persona: Persona, client: Any
) -> None:
    manager = persona_create(by=admin, name="manager")
    for capability in ("toolhub:personas", "file:read"):
        grant_create(by=admin, persona=manager, capability=capability, reason="r")
    text = token_create(by=admin, persona=manager, name="t")[1]
    headers: dict[str, Any] = {"HTTP_AUTHORIZATION": f"Bearer {text}", "content_type": "application/json"}
    at = "/api/v1/personas/researcher/grants"
    folder = {"kind": "path", "argument": "/path", "values": ["/srv/a"]}
    wish = {"capability": "file:read", "reason": "r", "conditions": [folder]}
    made = client.post(at, wish, **headers)
    assert made.status_code == 201
    twice = client.post(at, wish, **headers)
    assert twice.status_code == 409
    number = made.json()["id"]
    assert f"Change the grant {number}" in twice.json()["error"]["suggestions"][0]
    both = {**folder, "values": ["/srv/a", "/srv/b"]}
    changed = client.patch(f"{at}/{number}", {"conditions": [both]}, **headers)
    assert changed.status_code == 200, changed.json()
    assert changed.json()["conditions"] == [both]
    assert changed.json()["changed_at"]
    other = {**wish, "conditions": [{**folder, "values": ["/home"]}]}
    assert client.post(at, other, **headers).status_code == 201
    assert Grant.objects.filter(persona=persona, capability="file:read").count() == 2
    until = "2190-01-01T00:00:00Z"
    ends = client.patch(f"{at}/{number}", {"expires_at": until}, **headers).json()["expires_at"]
    assert ends.startswith("2190-01-01T00:00:00")
    assert client.patch(f"{at}/{number}", {"expires_at": None}, **headers).json()["expires_at"] is None


def test_a_grant_is_edited_and_renewed_on_its_page(admin: User, persona: Persona, client: Any) -> None:
    folder = {"kind": "path", "argument": "/path", "values": ["/srv/a"]}
    row = grant_create(by=admin, persona=persona, capability="file:read", reason="r", conditions=[folder])
    Grant.objects.filter(pk=row.pk).update(expires_at=timezone.now() - timedelta(days=1))
    client.force_login(admin)
    page = client.get("/personas/researcher/").content.decode()
    assert "Renew file:read" in page
    at = f"/personas/researcher/grants/{row.pk}/"
    assert "/srv/a" in client.get(at).content.decode()
    form = {
        "reason": "still needed",
        "expires_at": "2190-01-01T00:00",
        "condition": "path",
        "argument": "/path",
        "values": "/srv/a\n/srv/b",
    }
    answer = client.post(at, form)
    assert answer.status_code == 302, answer.context["form"].errors
    row.refresh_from_db()
    assert row.is_in_force
    assert (row.reason, row.conditions[0]["values"]) == ("still needed", ["/srv/a", "/srv/b"])
