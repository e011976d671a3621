"""The one decision: each rule's verdict, reason and remedy, and which failure names the error."""

import dataclasses
import json
import re
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from security.accounts.roles import ROLES
from security.decisions import RULES, decide
from security.facts import CallFacts, FlagFact, GrantFact, LimitFact, Policy, RestrictionFact

DOCS = Path(__file__).resolve().parents[2] / "docs"
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
ALLOWED = CallFacts(
    now=NOW,
    persona="scout",
    persona_active=True,
    token_state="valid",
    responsible_active=True,
    tool="fetch",
    version="1.2.0",
    version_state="active",
    assigned_by="by name",
    required=("network:api.example.org",),
    grants=(GrantFact("network:*", None),),
)
NO_END = {"is_pause": False, "of_persona": False, "tool": "", "capability": "", "until": None}


def restriction(**named: Any) -> RestrictionFact:
    return RestrictionFact(**{**NO_END, "reason": "an incident", "by": "alba", **named})


def limit(**more: Any) -> LimitFact:
    given = {"kind": "quota", "measure": "calls", "most": 3, "window_s": 86_400, "of": "of this persona"}
    return LimitFact(**{"id": 1, "together": False, "ends_at": NOW + timedelta(seconds=90), **given, **more})


NAMES = [
    "token",
    "persona",
    "assignment",
    "pause",
    "version",
    "capabilities",
    "flag",
    "restrictions",
    "content",
    "limits",
    "approval",
]


def facts(**changed: Any) -> CallFacts:
    return dataclasses.replace(ALLOWED, **changed)


def test_a_call_with_every_right_is_allowed_and_each_check_says_why() -> None:
    decision = decide(ALLOWED)
    assert decision.allowed
    assert decision.failure is None
    assert decision.warnings == []
    assert [check.name for check in decision.checks] == NAMES
    assert all(check.verdict == "pass" and check.reason.endswith(".") for check in decision.checks)
    assert decision.grounds == ("fetch is assigned: by name.", "Held: network:api.example.org by network:*.")
    assert decision.asks is None


# what changed, rule, code, reason, remedy
DENIED = [
    ({"token_state": "expired"}, "token", "UNAUTHENTICATED", "The token is expired.", "Use a valid token"),
    ({"token_state": "revoked"}, "token", "UNAUTHENTICATED", "The token is revoked.", "Use a valid token"),
    ({"responsible_active": False}, "token", "PERMISSION_DENIED", "has left.", "another responsible person"),
    (
        {"persona_active": False},
        "persona",
        "PERMISSION_DENIED",
        "scout is switched off.",
        "Switch the persona on.",
    ),
    (
        {"assigned_by": None},
        "assignment",
        "TOOL_NOT_FOUND",
        "fetch is not assigned to scout.",
        "Assign fetch",
    ),
    (
        {"version_state": "yanked"},
        "version",
        "VERSION_YANKED",
        "fetch 1.2.0 was withdrawn.",
        "another version",
    ),
    (
        {"version_state": "quarantined"},
        "version",
        "QUARANTINED",
        "1.2.0 is in quarantine.",
        "Review it, and restore it.",
    ),
    (
        {"grants": ()},
        "capabilities",
        "CAPABILITY_MISSING",
        "scout may not: network:api.example.org is missing.",
        "Grant network:api.example.org to scout.",
    ),
    (
        {"policy": Policy(restrictions=(restriction(is_pause=True),))},
        "pause",
        "PAUSED",
        "The hub is paused by alba: an incident",
        "End the pause.",
    ),
    (
        {"policy": Policy(restrictions=(restriction(is_pause=True, tool="fetch", until=NOW),))},
        "pause",
        "PAUSED",
        "The tool fetch is paused by alba until 2026-01-01 12:00 UTC: an incident",
        "End the pause.",
    ),
    (
        {"policy": Policy(restrictions=(restriction(is_pause=True, of_persona=True),))},
        "pause",
        "PAUSED",
        "The persona scout is paused by alba: an incident",
        "End the pause.",
    ),
    (
        {"policy": Policy(restrictions=(restriction(capability="network:*"),))},
        "restrictions",
        "PERMISSION_DENIED",
        "A restriction denies calls that need network:*. Made by alba: an incident",
        "Lift the restriction on calls that need network:*.",
    ),
    (
        {"policy": Policy(restrictions=(restriction(tool="fetch", of_persona=True),))},
        "restrictions",
        "PERMISSION_DENIED",
        "A restriction denies calls with fetch by scout.",
        "Lift the restriction on calls with fetch by scout.",
    ),
    (
        {"policy": Policy(limits=(limit(used=3),))},
        "limits",
        "QUOTA_EXCEEDED",
        "3 calls a day of this persona are used up.",
        "Wait 90 s, or raise the limit.",
    ),
    (
        {"policy": Policy(limits=(limit(used=1, most=1, kind="rate", window_s=1),))},
        "limits",
        "RATE_LIMIT",
        "1 call a second of this persona is used up.",
        "Wait 90 s",
    ),
    (
        {"policy": Policy(limits=(limit(used=5000, most=5000, measure="seconds", window_s=90),))},
        "limits",
        "QUOTA_EXCEEDED",
        "5 seconds in 90 s of this persona are used up.",
        "raise the limit",
    ),
    (
        {"grants": (GrantFact("network:api.example", None),)},
        "capabilities",
        "CAPABILITY_MISSING",
        "network:api.example.org is missing.",
        "Grant network:api.example.org to scout.",
    ),
    (
        {"grants": (GrantFact("network", NOW - timedelta(seconds=1)),)},
        "capabilities",
        "CAPABILITY_MISSING",
        "network:api.example.org is expired.",
        "Grant network:api.example.org to scout.",
    ),
]


# By rule the least role that can change what it says, as docs/security.md tells.
WHO = {
    row[0]: row[1]
    for row in re.findall(
        r"^\| `(\w+)` \|.*\| (an? \w+): [^|]+\|$",
        (DOCS / "security.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
}
CHANGES = {
    "token": "security.add_token",
    "persona": "security.change_persona",
    "assignment": "registry.add_assignment",
    "pause": "policy.delete_restriction",
    "version": "registry.change_release",
    "capabilities": "security.add_grant",
    "flag": "policy.change_flag",
    "restrictions": "policy.delete_restriction",
    "limits": "policy.change_limit",
}


def test_the_least_role_that_can_is_named() -> None:
    holders = {
        rule: [role.name for role in ROLES if any(fnmatchcase(name, one) for one in role.permissions)]
        for rule, name in CHANGES.items()
    }
    assert {
        rule: f"{'an' if names[0][0] in 'ao' else 'a'} {names[0]}" for rule, names in holders.items()
    } == WHO


@pytest.mark.parametrize(("changed", "rule", "code", "reason", "remedy"), DENIED)
def test_one_thing_that_is_wrong_denies_by_its_rule_alone(
    changed: dict[str, Any], rule: str, code: str, reason: str, remedy: str
) -> None:
    decision = decide(facts(**changed))
    assert not decision.allowed
    assert [check.name for check in decision.checks if check.verdict == "fail"] == [rule]
    failure = decision.failure
    assert failure is not None
    assert (failure.name, failure.code) == (rule, code)
    assert failure.who in {WHO[rule], f"{WHO[rule]} or an admin"}
    assert reason in failure.reason
    assert remedy in failure.remedy


def test_a_deprecated_version_is_a_warning_and_no_refusal() -> None:
    decision = decide(facts(version_state="deprecated"))
    assert decision.allowed
    assert decision.warnings == ["fetch 1.2.0 is deprecated."]


def test_a_version_state_that_nobody_knows_is_refused() -> None:
    assert not decide(facts(version_state="something new")).allowed


@pytest.mark.parametrize(
    ("after", "allowed"), [(timedelta(microseconds=1), True), (timedelta(0), False), (timedelta(-1), False)]
)
def test_a_grant_ends_at_its_expiry(after: timedelta, allowed: bool) -> None:
    assert decide(facts(grants=(GrantFact("*", NOW + after),))).allowed is allowed


def test_every_required_capability_has_to_be_held() -> None:
    decision = decide(facts(required=("file:read", "file:write"), grants=(GrantFact("file:read", None),)))
    assert decision.failure is not None
    assert decision.failure.reason == "scout may not: file:write is missing."


def test_a_live_grant_counts_beside_an_expired_one_of_the_same_right() -> None:
    grants = (GrantFact("network:*", NOW - timedelta(days=1)), GrantFact("network", None))
    assert decide(facts(grants=grants)).allowed


def test_a_tool_without_requirements_needs_no_grant() -> None:
    assert decide(facts(required=(), grants=())).allowed


def test_every_rule_is_asked_also_after_a_failure_and_the_first_names_the_error() -> None:
    decision = decide(
        facts(
            token_state="revoked",
            persona_active=False,
            assigned_by=None,
            version_state="yanked",
            grants=(),
            policy=Policy(
                restrictions=(restriction(is_pause=True), restriction(tool="fetch")),
                flag=FlagFact("beta", "off"),
                limits=(limit(used=3),),
            ),
        )
    )
    assert len(decision.checks) == len(RULES)
    assert {check.name for check in decision.checks if check.verdict != "fail"} == {"content", "approval"}
    assert decision.failure is not None
    assert decision.failure.code == "UNAUTHENTICATED"


def test_the_explanation_is_plain_json() -> None:
    told = json.loads(json.dumps(decide(facts(grants=())).as_dict()))
    assert set(told) == {"allowed", "checks"}
    assert told["allowed"] is False
    assert all(
        set(check) == {"name", "verdict", "reason", "code", "remedy", "who"} for check in told["checks"]
    )


# restricted, needed, denied
COVERED = [
    ("file:delete", "file:delete", True),
    ("file:*", "file:delete", True),
    ("file", "file:delete", True),
    ("*", "file:delete", True),
    ("file:delete", "file", True),
    ("file:delete", "file:delete:tmp", True),
    ("file:delete:tmp", "file:delete", True),
    ("file:delete", "file:read", False),
    ("file:delete", "files:delete", False),
    ("files", "file:delete", False),
    ("network:api.example", "network:api.example.org", False),
]


@pytest.mark.parametrize(("restricted", "needed", "denied"), COVERED)
def test_a_restriction_denies_what_needs_it_a_part_of_it_or_the_whole(
    restricted: str, needed: str, denied: bool
) -> None:
    policy = Policy(restrictions=(restriction(capability=restricted),))
    found = decide(facts(required=(needed,), grants=(GrantFact("*", None),), policy=policy))
    assert found.allowed is not denied


CAREFUL = (GrantFact("network:*", None, ({"kind": "approval"},)),)


@pytest.mark.parametrize(
    ("changed", "verdict", "reason"),
    [
        ({}, "pass", "No approval is needed."),
        (
            {"asks": "its contract wants it"},
            "ask",
            "A person has to approve the call: its contract wants it.",
        ),
        ({"grants": CAREFUL}, "ask", "the grant of network:* wants it."),
        ({"grants": (*CAREFUL, GrantFact("network", None))}, "ask", "the grant of network:* wants it."),
        ({"grants": CAREFUL, "required": ()}, "pass", "No approval is needed."),
        ({"asks": "an admin wants it", "approved": "bo"}, "pass", "Approved by bo."),
    ],
)
def test_a_person_is_asked_where_tool_or_grant_want_it(
    changed: dict[str, Any], verdict: str, reason: str
) -> None:
    decision = decide(facts(**changed))
    last = decision.checks[-1]
    assert (last.name, last.verdict) == ("approval", verdict)
    assert last.reason.endswith(reason)
    assert decision.allowed
    assert (decision.asks is not None) == (verdict == "ask")


@pytest.mark.parametrize(
    ("capability", "ends", "stands"),
    [
        ("approved:fetch", None, True),
        ("approved:fetch", NOW + timedelta(hours=1), True),
        ("approved:fetch", NOW - timedelta(hours=1), False),
        ("approved:*", None, True),
        ("approved", None, True),
        ("approved:other", None, False),
        ("*", None, False),
    ],
)
def test_a_grant_approves_in_advance_by_its_name_alone(
    capability: str, ends: datetime | None, stands: bool
) -> None:
    grants = (GrantFact("network:*", None), GrantFact(capability, ends))
    assert (decide(facts(asks="its contract wants it", grants=grants)).asks is None) == stands
