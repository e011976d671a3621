"""The table of safeguards, walked: for each field a change that loosens it, and its reverse that does not."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from security.safeguards import (
    CAPABILITY_NARROWED,
    CHANGED,
    CONDITIONS_WIDENED,
    ENDS_EARLIER,
    ENDS_LATER,
    ISOLATION_LOWERED,
    LOWERED,
    MEMBER_ADDED,
    MEMBER_REMOVED,
    MODE_WEAKENED,
    NAME_NARROWED,
    RAISED,
    SAFEGUARDS,
    STATE_OPENED,
    STATE_RESTORED,
    SWITCHED_OFF,
    SWITCHED_ON,
    Direction,
    loosened,
)

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
SOON, LATER = NOW + timedelta(hours=1), NOW + timedelta(days=1)
FOLDER = {"kind": "path", "argument": "/path", "values": ["/data"]}
TWO = {**FOLDER, "values": ["/data", "/home"]}
PART = {**FOLDER, "values": ["/data/open"]}
APPROVAL = {"kind": "approval"}

# Per direction: pairs from stricter to looser. Each is tried in reverse, too.
PAIRS: dict[Direction, list[tuple[Any, Any]]] = {
    SWITCHED_OFF: [(True, False)],
    SWITCHED_ON: [(False, True)],
    RAISED: [(10, 11)],
    LOWERED: [(3600, 60)],
    MEMBER_REMOVED: [([1, 2], [2]), ([1], [])],
    MEMBER_ADDED: [([], ["beta"]), (["beta"], ["beta", "gamma"])],
    NAME_NARROWED: [("", "echo"), (None, "demo")],
    CAPABILITY_NARROWED: [("", "file:read"), ("file", "file:read"), ("file:*", "file:read")],
    ENDS_EARLIER: [(None, LATER), (LATER, SOON)],
    ENDS_LATER: [(LATER, None), (SOON, LATER)],
    CONDITIONS_WIDENED: [
        ([FOLDER], []),
        ([FOLDER], [TWO]),
        ([PART], [FOLDER]),
        ([FOLDER, APPROVAL], [FOLDER]),
        ([{"kind": "cel", "expression": "true"}], []),
        ([{"kind": "session", "values": ["s"]}], []),
    ],
    MODE_WEAKENED: [("block", "record"), ("block", "off"), ("record", "off")],
    ISOLATION_LOWERED: [("basic", ""), ("strict", "basic"), ("paranoid", "strict")],
    STATE_OPENED: [("off", "tiers"), ("tiers", "on"), ("off", "on")],
    STATE_RESTORED: [("quarantined", "active"), ("yanked", "active"), ("yanked", "deprecated")],
    CHANGED: [("beta", None), ("beta", "")],
}
# Both ways loosen, or neither does.
EITHER_WAY: dict[Direction, list[tuple[Any, Any]]] = {
    CHANGED: [("beta", "gamma")],
    NAME_NARROWED: [("echo", "add")],
    CAPABILITY_NARROWED: [("file:read", "file:write")],
    CONDITIONS_WIDENED: [([FOLDER], [{**FOLDER, "values": ["/home"]}])],
    MODE_WEAKENED: [("record", "")],
}
FIELDS = [(kind, field) for kind, one in SAFEGUARDS.items() for field in one.fields]


@pytest.mark.parametrize(("kind", "field"), FIELDS)
def test_a_looser_value_is_named_and_its_reverse_is_not(kind: str, field: str) -> None:
    direction = SAFEGUARDS[kind].fields[field]
    for strict, loose in PAIRS[direction]:
        (found,) = loosened(kind, {field: strict}, {field: loose}, NOW)
        assert (found.field, found.before, found.after) == (field, strict, loose)
        assert field in str(found)
        assert loosened(kind, {field: loose}, {field: strict}, NOW) == ()
        assert loosened(kind, {field: strict}, {field: strict}, NOW) == ()
    for one, other in EITHER_WAY.get(direction, []):
        assert loosened(kind, {field: one}, {field: other}, NOW)
        assert loosened(kind, {field: other}, {field: one}, NOW)


@pytest.mark.parametrize("kind", SAFEGUARDS)
def test_deletion_loosens_what_holds_by_being_there(kind: str) -> None:
    field = next(iter(SAFEGUARDS[kind].fields))
    found = loosened(kind, {field: "anything"}, None, NOW)
    assert bool(found) == (kind in {"restriction", "limit", "output_pattern"})
    assert loosened(kind, None, {field: "anything"}, NOW) == ()


def test_what_has_expired_holds_nothing() -> None:
    over = {"tool": "echo", "expires_at": NOW}
    assert loosened("restriction", over, None, NOW) == ()
    assert loosened("restriction", over, None, NOW - timedelta(seconds=1))
    assert loosened("grant", {"conditions": [FOLDER], "expires_at": NOW}, {"conditions": []}, NOW) == ()


def test_the_contracts_content_mode_may_be_any() -> None:
    def change(before: str, after: str) -> bool:
        return bool(loosened("tool", {"contentChecks": before}, {"contentChecks": after}))

    assert all(change(*pair) for pair in [("block", ""), ("", "record"), ("", "off")])
    assert not any(change(*pair) for pair in [("", "block"), ("off", ""), ("off", "record")])
