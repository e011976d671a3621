"""Each safeguard through each door that can loosen it: by an agent, by people with and without the right."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import transaction
from django.test import Client
from django.urls import reverse

from audit.models import Event
from core.errors import Conflict, Denied, NotFound
from registry.models import Release, Tool, ToolVersion
from registry.releases.lifecycle import release_quarantine, release_yank
from registry.releases.overlay import tool_overlay_edit
from registry.rules.services import rule_add
from security.four_eyes import four_eyes_switch
from security.loosening import DOORS, SecondPersonNeeded
from security.models import Grant, OutputPattern, Persona, Switch, User
from security.patterns import pattern_add
from security.policy.limits import limit_create
from security.policy.models import (
    Flag,
    FlaggedTool,
    Limit,
    ProposedChange,
    Restriction,
    SafeguardSetter,
    Standing,
    Tier,
)
from security.policy.services import isolation_set, pause_begin, restriction_create
from security.policy.tiers import flag_create, flag_require, tier_change, tier_create, tier_set
from security.proposals import (
    proposal_confirm,
    proposal_get,
    proposal_refuse,
    proposals_waiting,
)
from security.safeguards import SAFEGUARDS
from security.services import grant_create, persona_create, persona_switch, token_create

pytestmark = pytest.mark.django_db
GONE = ""
APPROVAL = [{"kind": "approval"}]
# An agent hears that it may not before a version would count.
REFUSED_BEFORE = {"approval of a grant", "approval of a wider grant"}


@dataclass(frozen=True)
class Case:
    """A change that loosens: the service function and its arguments, the route, and the table's fields.

    `api` is method, path and body, with values from `made`; None where agents have no route.
    """

    door: str
    make: Callable[[User, Persona], dict[str, Any]]
    loosens: tuple[tuple[str, str], ...]
    api: Callable[[dict[str, Any]], tuple[str, str, dict[str, Any]]] | None
    # What a person needs for the change beside the table's permission to loosen.
    needs: tuple[str, ...] = ()


def _tool() -> Tool:
    return Tool.objects.get(name="echo")


def _overlay(strict: dict[str, Any], loose: dict[str, Any]) -> Callable[[User, Persona], dict[str, Any]]:
    def make(admin: User, persona: Persona) -> dict[str, Any]:
        tool_overlay_edit(by=admin, tool=_tool(), overlay=strict)
        return {"tool": _tool(), "overlay": loose}

    return make


def _put_overlay(made: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
    return "PUT", "tools/echo/overlay", made["overlay"]


def _rule(admin: User, persona: Persona) -> dict[str, Any]:
    rule_add(by=admin, tool=_tool(), expression="true", message="Never.")
    return {"tool": _tool(), "rule_id": 1}


def _flagged(admin: User, persona: Persona) -> dict[str, Any]:
    flag_require(by=admin, tool="echo", flag=flag_create(by=admin, name="beta"))
    return {"tool": "echo", "flag": None}


def _other_flag(admin: User, persona: Persona) -> dict[str, Any]:
    return {**_flagged(admin, persona), "flag": flag_create(by=admin, name="gamma", state="on")}


def _off(admin: User, persona: Persona) -> dict[str, Any]:
    persona_switch(by=admin, persona=persona, on=False)
    return {"persona": persona, "on": True}


def _isolated(admin: User, persona: Persona) -> dict[str, Any]:
    isolation_set(by=admin, persona=persona, isolation="strict")
    return {"persona": persona, "isolation": "basic"}


def _on_tier(admin: User, persona: Persona) -> dict[str, Any]:
    limited, free = tier_create(by=admin, name="limited"), tier_create(by=admin, name="free")
    limit_create(by=admin, kind="quota", measure="calls", amount=5, window_s=60, tier=limited)
    tier_set(by=admin, persona=persona, tier=limited)
    flag_create(by=admin, name="beta", state="tiers")
    tier_change(by=admin, tier=free, flags=["beta"])
    return {"persona": persona, "tier": free}


def _standing(admin: User, persona: Persona) -> dict[str, Any]:
    return {**_isolated(admin, persona), **_on_tier(admin, persona)}


def _tier(admin: User, persona: Persona) -> dict[str, Any]:
    flag_create(by=admin, name="beta", state="tiers")
    return {"tier": tier_create(by=admin, name="free"), "flags": ["beta"]}


def _flag(admin: User, persona: Persona) -> dict[str, Any]:
    return {"flag": flag_create(by=admin, name="beta", state="off"), "state": "tiers"}


def _restriction(admin: User, persona: Persona) -> dict[str, Any]:
    return {"restriction": restriction_create(by=admin, persona=persona, capability="file", reason="r")}


def _pause(admin: User, persona: Persona) -> dict[str, Any]:
    return {"restriction": pause_begin(by=admin, tool="echo", reason="an incident")}


def _limit(admin: User, persona: Persona) -> dict[str, Any]:
    limit = limit_create(by=admin, kind="rate", measure="calls", amount=5, window_s=60, persona=persona)
    return {"limit": limit}


def _limit_change(**change: Any) -> Case:
    """A limit whose fields `change` names are loosened by it."""

    def make(admin: User, persona: Persona) -> dict[str, Any]:
        return {**_limit(admin, persona), **change}

    return Case(
        "limit.change",
        make,
        tuple(("limit", name) for name in SAFEGUARDS["limit"].fields if name in change),
        lambda made: ("PATCH", f"limits/{made['limit'].pk}", change),
        needs=("policy.change_limit",),
    )


def _pattern(admin: User, persona: Persona) -> dict[str, Any]:
    return {"row": pattern_add(by=admin, name="keys", pattern="key-[0-9]+")}


def _yanked(admin: User, persona: Persona) -> dict[str, Any]:
    release = ToolVersion.objects.get(tool__name="echo").release
    Release.objects.filter(pk=release.pk).update(version="0.9.0")
    release.package.active = None
    release.package.save()
    release_yank(by=admin, release=release, reason="bad")
    return {"release": release}


def _quarantined(admin: User, persona: Persona) -> dict[str, Any]:
    release = ToolVersion.objects.get(tool__name="echo").release
    release_quarantine(by=admin, release=release, reason="odd")
    return {"release": release}


def _careful(admin: User, persona: Persona) -> dict[str, Any]:
    grant = grant_create(by=admin, persona=persona, capability="net", reason="r", conditions=APPROVAL)
    return {"grant": grant, "conditions": []}


def _beside(admin: User, persona: Persona) -> dict[str, Any]:
    _careful(admin, persona)
    return {"persona": persona, "capability": "net:get", "reason": "r"}


def _rule_on(admin: User, persona: Persona) -> dict[str, Any]:
    return {"on": False}


RESEARCHER = "personas/researcher"
CASES = {
    "approval": Case("tool.overlay", _overlay({"approval": True}, {}), (("tool", "approval"),), _put_overlay),
    "approval, by false": Case(
        "tool.overlay",
        _overlay({"approval": True}, {"approval": False, "notes": "n"}),
        (("tool", "approval"),),
        _put_overlay,
    ),
    "sanitising": Case(
        "tool.overlay",
        _overlay({"sanitise": True, "approval": True}, {"approval": True}),
        (("tool", "sanitise"),),
        _put_overlay,
    ),
    "content checks": Case(
        "tool.overlay",
        _overlay({"contentChecks": "block"}, {"contentChecks": "record"}),
        (("tool", "contentChecks"),),
        _put_overlay,
    ),
    "content checks off": Case(
        "tool.overlay", _overlay({}, {"contentChecks": "off"}), (("tool", "contentChecks"),), _put_overlay
    ),
    "rule": Case(
        "tool.rule_remove", _rule, (("tool", "rules"),), lambda made: ("DELETE", "tools/echo/rules/1", {})
    ),
    "flag of a tool": Case(
        "tool.flag",
        _flagged,
        (("tool_flag", "flag"),),
        lambda made: ("PUT", "tools/echo/flag", {"flag": None}),
    ),
    "other flag of a tool": Case(
        "tool.flag",
        _other_flag,
        (("tool_flag", "flag"),),
        lambda made: ("PUT", "tools/echo/flag", {"flag": "gamma"}),
    ),
    "persona": Case(
        "persona.switch",
        _off,
        (("persona", "is_active"),),
        lambda made: ("PATCH", RESEARCHER, {"active": True}),
    ),
    "isolation": Case(
        "persona.isolation",
        _isolated,
        (("standing", "isolation"),),
        lambda made: ("PATCH", RESEARCHER, {"isolation": "basic"}),
    ),
    "tier of a persona": Case(
        "persona.tier",
        _on_tier,
        (("standing", "flags"), ("standing", "limits")),
        lambda made: ("PATCH", RESEARCHER, {"tier": "free"}),
    ),
    "isolation and tier": Case(
        "persona.standing",
        _standing,
        (("standing", "isolation"), ("standing", "flags"), ("standing", "limits")),
        lambda made: ("PATCH", RESEARCHER, {"isolation": "basic", "tier": "free"}),
    ),
    "flags of a tier": Case(
        "tier.change",
        _tier,
        (("tier", "flags"),),
        lambda made: ("PATCH", "tiers/free", {"flags": ["beta"]}),
    ),
    "flag": Case(
        "flag.switch",
        _flag,
        (("flag", "state"),),
        lambda made: ("PATCH", "flags/beta", {"state": "tiers"}),
    ),
    "restriction": Case(
        "restriction.lift",
        _restriction,
        (("restriction", GONE),),
        lambda made: ("DELETE", f"restrictions/{made['restriction'].pk}", {}),
    ),
    "pause": Case(
        "restriction.lift",
        _pause,
        (("restriction", GONE),),
        lambda made: ("DELETE", f"restrictions/{made['restriction'].pk}", {}),
    ),
    "limit": Case(
        "limit.delete",
        _limit,
        (("limit", GONE),),
        lambda made: ("DELETE", f"limits/{made['limit'].pk}", {}),
    ),
    "amount of a limit": _limit_change(amount=6),
    "window of a limit": _limit_change(window_s=59),
    "kind of a limit": _limit_change(kind="quota"),
    "all of a limit": _limit_change(kind="quota", amount=50, window_s=1),
    "output pattern": Case(
        "output_pattern.remove",
        _pattern,
        (("output_pattern", GONE),),
        lambda made: ("DELETE", f"output-patterns/{made['row'].pk}", {}),
    ),
    "withdrawn release": Case(
        "release.restore",
        _yanked,
        (("release", "state"),),
        lambda made: ("POST", f"releases/{made['release'].pk}/restore", {}),
    ),
    "withdrawn release, deprecated": Case(
        "release.deprecate",
        lambda admin, persona: {**_yanked(admin, persona), "reason": "old"},
        (("release", "state"),),
        lambda made: ("POST", f"releases/{made['release'].pk}/deprecate", {"reason": "old"}),
    ),
    "quarantine": Case(
        "release.restore",
        _quarantined,
        (("release", "state"),),
        lambda made: ("POST", f"releases/{made['release'].pk}/restore", {}),
    ),
    "approval of a grant": Case(
        "grant.change",
        _careful,
        (("grant", "approval"),),
        lambda made: ("PATCH", f"{RESEARCHER}/grants/{made['grant'].pk}", {"conditions": []}),
    ),
    "approval of a wider grant": Case(
        "grant.create",
        _beside,
        (("grant", "approval"),),
        lambda made: ("POST", f"{RESEARCHER}/grants", {"capability": "net:get", "reason": "r"}),
    ),
    "two-person rule": Case("two_person_rule.switch", _rule_on, (("two_person_rule", "on"),), None),
}
# No door edits these: the rows are only made and deleted. What a limit counts stays.
NEVER_EDITED = {
    (kind, field) for kind in ("restriction", "output_pattern") for field in SAFEGUARDS[kind].fields
} | {("limit", field) for field in ("measure", "persona", "tier", "tool")}


def kept() -> list[Any]:
    """Everything that holds calls back."""
    models = (
        Tool,
        Persona,
        Grant,
        Standing,
        Tier,
        Flag,
        FlaggedTool,
        Restriction,
        Limit,
        OutputPattern,
        ToolVersion,
    )
    rows: list[Any] = [list(model.objects.order_by("pk").values()) for model in models]  # type: ignore[attr-defined]
    return [*rows, list(Switch.objects.filter(on=False).values())]


@pytest.fixture
def manager(manage: Callable[..., Any], admin: User, published: None) -> Persona:
    """The persona behind `manage`, which holds all that an agent can."""
    mine = Persona.objects.get(name="manager")
    for capability in ("toolhub:packages", "*"):
        grant_create(by=admin, persona=mine, capability=capability, reason="works")
    return mine


def test_the_cases_cover_the_table_and_every_door() -> None:
    fields = {
        (kind, name) for kind, one in SAFEGUARDS.items() for name in one.fields if name not in one.gives
    }
    fields |= {(kind, GONE) for kind, one in SAFEGUARDS.items() if one.deletion_loosens}
    tried = {field for case in CASES.values() for field in case.loosens}
    assert tried == fields - NEVER_EDITED
    assert {case.door for case in CASES.values()} == set(DOORS)


def test_no_agent_loosens_a_safeguard(
    manage: Callable[..., Any], manager: Persona, persona: Persona, admin: User, subtests: Any
) -> None:
    for name, case in CASES.items():
        if case.api is None:
            continue
        with subtests.test(name), transaction.atomic():
            method, path, body = case.api(case.make(admin, persona))
            before = kept()
            unnamed = manage(method, path, _if_match="", **body)
            if name in REFUSED_BEFORE:
                assert unnamed.status_code == 403, unnamed.json()
            else:
                code = unnamed.json()["error"]["code"]
                assert (unnamed.status_code, code) == (428, "PRECONDITION_REQUIRED")
            assert kept() == before
            refused = manage(method, path, **body)
            assert refused.status_code == 403, refused.json()
            error = refused.json()["error"]
            assert "admin" in error["suggestions"][0]
            assert kept() == before
            transaction.set_rollback(True)


def test_the_refusal_names_field_setter_and_who_can(
    manage: Callable[..., Any], manager: Persona, admin: User
) -> None:
    tool_overlay_edit(by=admin, tool=_tool(), overlay={"approval": True})
    refused = manage("PUT", "tools/echo/overlay").json()
    assert refused["error"]["message"].startswith(
        "manager may not loosen a safeguard (approval: on → off). admin set it on "
    )
    assert refused["errors"][0]["pointer"] == "/approval"
    assert (
        "Ask admin: a person with the permission registry.change_tool" in refused["error"]["suggestions"][0]
    )


def test_an_agent_tightens_each(manage: Callable[..., Any], manager: Persona, persona: Persona) -> None:
    assert manage("PUT", "tools/echo/overlay", approval=True, contentChecks="block").status_code == 200
    assert manage("PATCH", RESEARCHER, active=False, isolation="strict").status_code == 200
    assert manage("POST", "restrictions", capability="file", reason="r").status_code == 201
    setters = set(SafeguardSetter.objects.values_list("subject", "field", "set_by"))
    subject = f"persona:{persona.pk}"
    assert {("tool:echo", "approval", "manager"), (subject, "isolation", "manager")} <= setters


def test_an_agent_does_not_clear_the_way_by_ending_a_grant_that_asks(
    manage: Callable[..., Any], manager: Persona, persona: Persona, admin: User
) -> None:
    grant = _careful(admin, persona)["grant"]
    at = f"{RESEARCHER}/grants/{grant.pk}"
    for method, body in (("DELETE", {}), ("PATCH", {"expires_at": "2190-01-01T00:00:00Z"})):
        refused = manage(method, at, **body)
        assert refused.status_code == 403
        assert "a grant that asks for approval" in refused.json()["error"]["message"]
    # One of the same name beside it leaves the approval where it is.
    assert manage("POST", f"{RESEARCHER}/grants", capability="net", reason="r").status_code == 201
    assert Grant.objects.filter(persona=persona, capability="net").count() == 2


def _permission(case: Case) -> str:
    return SAFEGUARDS[case.loosens[0][0]].permission


def _holder(name: str, *permissions: str) -> User:
    user = User.objects.create_user(name)
    codes = [one.partition(".")[2] for one in permissions]
    user.user_permissions.set(Permission.objects.filter(codename__in=codes))
    return User.objects.get(pk=user.pk)


def test_a_person_without_the_permission_loosens_none(
    admin: User, persona: Persona, published: None, viewer: User, subtests: Any
) -> None:
    for name, case in CASES.items():
        with subtests.test(name), transaction.atomic():
            made = case.make(admin, persona)
            before = kept()
            with pytest.raises((Denied, NotFound)) as refused, transaction.atomic():
                DOORS[case.door](by=viewer, **made)
            assert not isinstance(refused.value, SecondPersonNeeded)
            assert kept() == before
            transaction.set_rollback(True)


def test_a_person_alone_loosens_each_on_record(
    admin: User, persona: Persona, published: None, subtests: Any
) -> None:
    for name, case in CASES.items():
        with subtests.test(name), transaction.atomic():
            made = case.make(admin, persona)
            before = kept()
            DOORS[case.door](by=admin, **made)
            assert kept() != before
            assert '"two_person_rule":"alone"' in Event.objects.latest("id").canonical
            assert not ProposedChange.objects.exists()
            transaction.set_rollback(True)


def test_with_two_people_the_second_confirms_each(
    admin: User, persona: Persona, published: None, subtests: Any
) -> None:
    for name, case in CASES.items():
        with subtests.test(name), transaction.atomic():
            made = case.make(admin, persona)
            first = _holder("first", _permission(case), *case.needs, "execution.approve_run")
            before = kept()
            with pytest.raises(SecondPersonNeeded) as needed:
                DOORS[case.door](by=first, **made)
            assert kept() == before
            assert "admin" in needed.value.suggestions[0]
            needed.value.keep()
            needed.value.keep()
            row = ProposedChange.objects.get()
            assert len(row.changes) == len(case.loosens)
            assert proposals_waiting(first) == []
            with pytest.raises(Denied, match="somebody else"):
                proposal_confirm(by=first, proposal=row)
            stranger = _holder("stranger")
            assert proposals_waiting(stranger) == []
            with pytest.raises(NotFound):
                proposal_get(row.pk, stranger)
            assert kept() == before
            assert proposals_waiting(admin) == [row]
            proposal_confirm(by=admin, proposal=row)
            assert kept() != before
            told = "".join(Event.objects.order_by("-id").values_list("canonical", flat=True)[:4])
            assert '"two_person_rule":"other"' in told
            assert '"confirmed_by":"admin"' in told
            kinds = set(Event.objects.values_list("kind", flat=True))
            assert {"safeguard.change_proposed", "safeguard.change_confirmed"} <= kinds
            with pytest.raises(Conflict):
                proposal_confirm(by=admin, proposal=row)
            transaction.set_rollback(True)


def test_with_the_rule_off_one_person_loosens(admin: User, persona: Persona, published: None) -> None:
    other = _holder("other", "registry.change_tool")
    four_eyes_switch(by=admin, on=False)
    made = CASES["approval"].make(admin, persona)
    tool_overlay_edit(by=other, **made)
    assert '"two_person_rule":"off"' in Event.objects.latest("id").canonical


def test_a_change_that_no_longer_fits_is_not_made(admin: User, persona: Persona, published: None) -> None:
    made = CASES["content checks"].make(admin, persona)
    first = _holder("first", "registry.change_tool")
    with pytest.raises(SecondPersonNeeded) as needed:
        tool_overlay_edit(by=first, **made)
    needed.value.keep()
    row = ProposedChange.objects.get()
    tool_overlay_edit(by=admin, tool=_tool(), overlay={"contentChecks": "block", "approval": True})
    with pytest.raises(Conflict, match="was changed since"):
        proposal_confirm(by=admin, proposal=row)
    assert _tool().asks_approval
    # Nor where the proposer may no longer make it.
    first.user_permissions.clear()
    with pytest.raises(Conflict, match="may not make this change any more"):
        proposal_confirm(by=admin, proposal=row)
    proposal_refuse(by=admin, proposal=row)
    assert ProposedChange.objects.get().decision == "refused"


def test_pages_propose_confirm_refuse_and_withdraw(
    client: Client, admin: User, persona: Persona, published: None
) -> None:
    first = _holder("first", "policy.delete_restriction", "policy.view_restriction")
    row = restriction_create(by=admin, persona=persona, capability="file", reason="r")
    lift = reverse("restriction_lift", args=[row.pk])

    def propose() -> ProposedChange:
        client.force_login(first)
        answer = client.post(lift)
        found = ProposedChange.objects.get(decision="")
        assert answer.headers["Location"] == reverse("proposal", args=[found.pk])
        page = client.get(answer.headers["Location"]).content.decode()
        assert "You proposed this change" in page
        assert "Confirm change" not in page
        return found

    waits = propose()
    client.post(reverse("proposal_refuse", args=[waits.pk]))
    assert ProposedChange.objects.get(pk=waits.pk).decision == "withdrawn"
    waits = propose()
    assert client.post(reverse("proposal_confirm", args=[waits.pk])).status_code == 422
    client.force_login(admin)
    overview = client.get(reverse("overview")).content.decode()
    assert "1 proposed change waits for you" in overview
    assert "Loosen restriction: researcher" in client.get(reverse("proposals")).content.decode()
    client.post(reverse("proposal_refuse", args=[waits.pk]))
    assert Restriction.objects.exists()
    waits = propose()
    client.force_login(admin)
    assert "Confirm change" in client.get(reverse("proposal", args=[waits.pk])).content.decode()
    answer = client.post(reverse("proposal_confirm", args=[waits.pk]))
    assert answer.headers["Location"] == reverse("proposals")
    assert not Restriction.objects.exists()
    event = Event.objects.get(kind="restriction.lifted")
    assert event.actor_name == "first"
    assert json.loads(event.canonical)["data"]["confirmed_by"] == "admin"


def test_who_responds_for_an_agent_may_not_loosen_by_it(
    client: Client, admin: User, persona: Persona, published: None
) -> None:
    """An agent of a new persona has no more than one that has long been there."""
    other = persona_create(by=admin, name="other")
    grant_create(by=admin, persona=other, capability="toolhub", reason="all of it")
    text = token_create(by=admin, persona=other, name="t")[1]
    tool_overlay_edit(by=admin, tool=_tool(), overlay={"approval": True})
    answer = client.put(
        "/api/v1/tools/echo/overlay",
        {},
        content_type="application/json",
        HTTP_AUTHORIZATION=f"Bearer {text}",
        HTTP_IF_MATCH="*",
    )
    assert answer.status_code == 403
    assert _tool().asks_approval
