"""Conditions on grants: a table by hand, and the decision that follows."""

from datetime import UTC, datetime
from typing import Any

import pytest

from core.errors import InvalidRequest
from security.conditions import condition_words, conditions_check, unmet
from security.decisions import decide
from security.facts import CallFacts, GrantFact


def path(*folders: str) -> dict[str, Any]:
    return {"kind": "path", "argument": "/path", "values": list(folders)}


def host(*hosts: str) -> dict[str, Any]:
    return {"kind": "host", "argument": "/url", "values": list(hosts)}


TABLE = [
    (path("/data"), {"path": "/data"}, True),
    (path("/data"), {"path": "/data/a/b"}, True),
    (path("/data"), {"path": "/data/../etc/passwd"}, False),
    (path("/data"), {"path": "/data/./a/../b"}, True),
    (path("/data"), {"path": "/database"}, False),
    (path("/data"), {"path": "//data/a"}, True),
    (path("/data"), {"path": "data/a"}, False),
    (path("/data"), {"path": "/data\0/../etc"}, False),
    (path("/data", "/tmp"), {"path": "/tmp/x"}, True),
    (path("/"), {"path": "/anything"}, True),
    (path("/data"), {"path": 5}, False),
    (path("/data"), {}, False),
    (host("example.org"), {"url": "https://example.org/x"}, True),
    (host("example.org"), {"url": "https://EXAMPLE.org/x"}, True),
    (host("example.org"), {"url": "https://example.org.evil.net/x"}, False),
    (host("example.org"), {"url": "https://evil.net/example.org"}, False),
    (host("example.org"), {"url": "https://example.org@evil.net/"}, False),
    (host("example.org"), {"url": "https://evil.net#example.org"}, False),
    (host("example.org"), {"url": "example.org"}, True),
    (host("*.example.org"), {"url": "https://a.example.org/"}, True),
    (host("*.example.org"), {"url": "https://example.org/"}, False),
    (host("*.example.org"), {"url": "https://badexample.org/"}, False),
    ({"kind": "equals", "argument": "/a/0/b", "values": ["x"]}, {"a": [{"b": "x"}]}, True),
    ({"kind": "equals", "argument": "/a/0/b", "values": ["x"]}, {"a": [{"b": "X"}]}, False),
    ({"kind": "matches", "argument": "/n", "values": ["x", "order-*"]}, {"n": "order-7"}, True),
    ({"kind": "matches", "argument": "/n", "values": ["order-*"]}, {"n": "border-7"}, False),
    ({"kind": "matches", "argument": "/n", "values": ["*@a.org"]}, {"n": "b@a.org.evil"}, False),
    ({"kind": "matches", "argument": "/n", "values": ["a*b*c"]}, {"n": "abbc"}, True),
    ({"kind": "matches", "argument": "/n", "values": ["a*bc*c"]}, {"n": "abc"}, False),
    ({"kind": "matches", "argument": "/n", "values": ["ab*ba"]}, {"n": "aba"}, False),
    ({"kind": "matches", "argument": "/n", "values": ["*"]}, {"n": 7}, False),
    ({"kind": "matches", "argument": "/n", "values": ["a.c"]}, {"n": "abc"}, False),
    ({"kind": "cel", "expression": "arguments.amount < 100"}, {"amount": 99}, True),
    ({"kind": "cel", "expression": "arguments.amount < 100"}, {"amount": 100}, False),
    ({"kind": "cel", "expression": "arguments.amount < 100"}, {}, False),
]


@pytest.mark.parametrize(("condition", "arguments", "holds"), TABLE)
def test_a_condition_holds_or_does_not(condition: Any, arguments: Any, holds: bool) -> None:
    [checked] = conditions_check([condition])
    assert (unmet([checked], arguments) is None) is holds


@pytest.mark.parametrize(
    ("conditions", "pointer"),
    [
        ("x", "/conditions"),
        ([{"kind": "path"}], "/conditions/0"),
        ([{"kind": "sometimes", "argument": "/a", "values": ["x"]}], "/conditions/0"),
        ([{"kind": "path", "argument": "path", "values": ["/x"]}], "/conditions/0/argument"),
        ([path("data")], "/conditions/0/values/0"),
        ([path("/data/../etc")], "/conditions/0/values/0"),
        ([path()], "/conditions/0/values"),
        ([host("https://example.org")], "/conditions/0/values/0"),
        ([host("exa mple")], "/conditions/0/values/0"),
        ([host("*.*.org")], "/conditions/0/values/0"),
        ([{"kind": "cel", "expression": "a +"}], "/conditions/0/expression"),
        ([path("/a")] * 11, "/conditions"),
    ],
)
def test_what_is_no_condition_is_refused_with_its_place(conditions: Any, pointer: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        conditions_check(conditions)
    assert refused.value.errors[0]["pointer"] == pointer


def facts(*grants: GrantFact, arguments: Any) -> CallFacts:
    return CallFacts(
        now=datetime(2026, 1, 1, tzinfo=UTC),
        persona="writer",
        persona_active=True,
        token_state="valid",
        responsible_active=True,
        tool="file_write",
        version="1.0.0",
        version_state="active",
        assigned_by="by name",
        required=("file:write",),
        grants=grants,
        arguments=arguments,
    )


def test_a_grant_under_a_condition_counts_where_it_holds_and_the_refusal_names_the_rule_alone() -> None:
    grant = GrantFact("file:write", None, (path("/data"),))
    assert decide(facts(grant, arguments={"path": "/data/x"})).allowed
    refused = decide(facts(grant, arguments={"path": "/etc/secret-7"}))
    assert not refused.allowed
    assert refused.failure is not None
    assert refused.failure.code == "CAPABILITY_MISSING"
    assert "file:write is granted only where /path lies within /data" in refused.failure.reason
    assert "secret-7" not in str(refused.as_dict())


def test_a_wider_grant_without_a_condition_counts_too() -> None:
    narrow = GrantFact("file:write", None, (path("/data"),))
    assert decide(facts(narrow, GrantFact("file", None), arguments={"path": "/etc/x"})).allowed


def test_all_conditions_must_hold() -> None:
    both = GrantFact("file:write", None, (path("/data"), {"kind": "cel", "expression": "arguments.n < 2"}))
    assert decide(facts(both, arguments={"path": "/data/x", "n": 1})).allowed
    assert not decide(facts(both, arguments={"path": "/data/x", "n": 2})).allowed
    assert not decide(facts(both, arguments={"path": "/x", "n": 1})).allowed


def test_in_a_list_of_tools_a_condition_is_told_and_not_judged() -> None:
    decision = decide(facts(GrantFact("file:write", None, (path("/data"),)), arguments=None))
    assert decision.allowed
    assert any("where /path lies within /data" in check.reason for check in decision.checks)


def test_conditions_in_words() -> None:
    assert condition_words(path("/a", "/b")) == "/path lies within /a, /b"
