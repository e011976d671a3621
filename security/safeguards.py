"""Safeguards: settings that hold calls back. One table says for each field which change loosens it.

The write doors ask `loosened` before they save (security/loosening.py); the tests walk the same table.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from security.capabilities import holders
from security.conditions import condition_words, narrower

Values = Mapping[str, Any]
ISOLATION = ("", "basic", "strict", "paranoid")
FLAG_STATES = ("on", "tiers", "off")
RELEASE_STATES = ("active", "deprecated", "yanked", "quarantined")


@dataclass(frozen=True)
class Direction:
    """A kind of change that loosens a field: `looser(before, after)` is true for it."""

    name: str
    looser: Callable[[Any, Any], bool]


@dataclass(frozen=True)
class Safeguard:
    """A kind of safeguard: its fields, whether deleting one loosens, and the permission to loosen it."""

    noun: str
    permission: str
    fields: Mapping[str, Direction]
    deletion_loosens: bool = False
    # Fields that say how much is given. Widening one gives more (security/giving.py): an agent gives what it
    # holds, and one person decides.
    gives: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Loosened:
    """A field that a change loosens, with both values; `field` is empty where the safeguard is deleted."""

    kind: str
    field: str
    before: Any
    after: Any

    @property
    def gives(self) -> bool:
        """Whether the change gives more, and takes no safeguard away."""
        return self.field in SAFEGUARDS[self.kind].gives

    def __str__(self) -> str:
        if not self.field:
            return f"the {SAFEGUARDS[self.kind].noun} would be deleted"
        return f"{self.field}: {value_words(self.before)} → {value_words(self.after)}"


def _ranked(name: str, order: Sequence[str]) -> Direction:
    """From the weakest to the strictest; a value below the one before loosens."""
    return Direction(name, lambda before, after: order.index(after) < order.index(before))


def _content_mode(before: str, after: str) -> bool:
    """Empty means the contract's mode, which may be any: it counts as looser than all but `off`."""
    if before == after or after == "block":
        return False
    return before != "off"


def _narrowed_name(before: Any, after: Any) -> bool:
    """Empty names all. What is named by one name only is no longer held under another."""
    return bool(after) and after != before


def _narrowed_capability(before: str, after: str) -> bool:
    """Empty is every call; a wider capability denies more."""
    return bool(after) and (not before or after not in holders(before))


def _earlier(before: datetime | None, after: datetime | None) -> bool:
    return after is not None and (before is None or after < before)


def _later(before: datetime | None, after: datetime | None) -> bool:
    return before is not None and (after is None or after > before)


SWITCHED_OFF = Direction("switched off", lambda before, after: bool(before) and not after)
SWITCHED_ON = Direction("switched on", lambda before, after: bool(after) and not before)
RAISED = Direction("raised", lambda before, after: after > before)
LOWERED = Direction("lowered", lambda before, after: after < before)
MEMBER_REMOVED = Direction("a member removed", lambda before, after: any(one not in after for one in before))
MEMBER_ADDED = Direction("a member added", lambda before, after: any(one not in before for one in after))
CHANGED = Direction("removed or changed", lambda before, after: bool(before) and before != after)
NAME_NARROWED = Direction("narrowed", _narrowed_name)
CAPABILITY_NARROWED = Direction("narrowed", _narrowed_capability)
ENDS_EARLIER = Direction("ends earlier", _earlier)
ENDS_LATER = Direction("ends later", _later)
CONDITIONS_WIDENED = Direction("removed or widened", lambda before, after: not narrower(after, before))
MODE_WEAKENED = Direction("weakened", _content_mode)
ISOLATION_LOWERED = _ranked("lowered", ISOLATION)
STATE_OPENED = _ranked("opened", FLAG_STATES)
STATE_RESTORED = Direction(
    "restored", lambda before, after: RELEASE_STATES.index(after) < RELEASE_STATES.index(before) > 1
)

SAFEGUARDS: Mapping[str, Safeguard] = {
    "tool": Safeguard(
        "tool's settings",
        "registry.change_tool",
        {
            "approval": SWITCHED_OFF,
            "sanitise": SWITCHED_OFF,
            "contentChecks": MODE_WEAKENED,
            "rules": MEMBER_REMOVED,
        },
    ),
    "tool_flag": Safeguard("tool's flag", "policy.change_flag", {"flag": CHANGED}),
    "persona": Safeguard("persona", "security.change_persona", {"is_active": SWITCHED_ON}),
    "standing": Safeguard(
        "persona's tier and isolation",
        "policy.change_standing",
        {
            "isolation": ISOLATION_LOWERED,
            "capabilities": MEMBER_ADDED,
            "flags": MEMBER_ADDED,
            "limits": MEMBER_REMOVED,
        },
        gives=frozenset({"capabilities"}),
    ),
    "tier": Safeguard(
        "tier",
        "policy.change_tier",
        {"capabilities": MEMBER_ADDED, "flags": MEMBER_ADDED},
        gives=frozenset({"capabilities"}),
    ),
    "flag": Safeguard("flag", "policy.change_flag", {"state": STATE_OPENED}),
    "restriction": Safeguard(
        "restriction",
        "policy.delete_restriction",
        {
            "persona": NAME_NARROWED,
            "tool": NAME_NARROWED,
            "capability": CAPABILITY_NARROWED,
            "is_pause": SWITCHED_OFF,
            "expires_at": ENDS_EARLIER,
        },
        deletion_loosens=True,
    ),
    "limit": Safeguard(
        "limit",
        "policy.delete_limit",
        {
            "amount": RAISED,
            "window_s": LOWERED,
            "kind": CHANGED,
            "measure": CHANGED,
            "persona": CHANGED,
            "tier": CHANGED,
            "tool": NAME_NARROWED,
        },
        deletion_loosens=True,
    ),
    "grant": Safeguard(
        "grant",
        "security.add_grant",
        {"approval": SWITCHED_OFF, "conditions": CONDITIONS_WIDENED, "expires_at": ENDS_LATER},
        gives=frozenset({"conditions", "expires_at"}),
    ),
    "output_pattern": Safeguard(
        "output pattern", "security.delete_outputpattern", {"pattern": CHANGED}, deletion_loosens=True
    ),
    "release": Safeguard("release", "registry.change_release", {"state": STATE_RESTORED}),
    "two_person_rule": Safeguard("two-person rule", "security.change_switch", {"on": SWITCHED_OFF}),
}
"""Each kind of safeguard, its fields and the change of each that loosens."""


def loosened(
    kind: str, before: Values | None, after: Values | None, now: datetime | None = None
) -> tuple[Loosened, ...]:
    """Return the fields of a safeguard that a change loosens, in the table's order.

    `before` and `after` map the table's fields to values; None means that there is none yet, or no more.
    A field that either leaves out is not compared. What has expired at `now` holds nothing, so changing it
    loosens nothing. Raises KeyError for an unknown kind.
    """
    safeguard = SAFEGUARDS[kind]
    if before is None or _is_over(before, now or timezone.now()):
        return ()
    if after is None:
        return (Loosened(kind, "", dict(before), None),) if safeguard.deletion_loosens else ()
    return tuple(
        Loosened(kind, name, before[name], after[name])
        for name, direction in safeguard.fields.items()
        if name in before and name in after and direction.looser(before[name], after[name])
    )


def value_words(value: Any) -> str:
    """The value of a field as a person reads it."""
    if value is None or value == "" or value == [] or value == ():
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M} UTC"
    if isinstance(value, list | tuple):
        return ", ".join(condition_words(one) if _is_condition(one) else str(one) for one in value)
    return str(value)


def _is_condition(one: Any) -> bool:
    return isinstance(one, Mapping) and "kind" in one


def _is_over(values: Values, now: datetime) -> bool:
    ends = values.get("expires_at")
    return isinstance(ends, datetime) and ends <= now
