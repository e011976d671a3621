"""What a tool asks to have changed in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from toolhub_sdk.memory import is_named

KEY_MAX = 200
CHANGES_MAX = 1_000
Named = Mapping[str, Sequence[str]]


class Absent:
    """Stands for a value that is not there: null is one that is."""

    def __repr__(self) -> str:
        return "absent"


ABSENT: Final = Absent()


@dataclass(frozen=True)
class Change:
    """A value to be written under a scope and key; ABSENT deletes."""

    scope: str
    key: str
    value: Any


class UnfitChange(ValueError):
    """A tool's change has not the form, or is not named by its contract. The text says which."""


def changes_read(said: Any, named: Named) -> tuple[Change, ...]:
    """The changes that a tool's last line tells. Raises UnfitChange: the line comes from a sandbox."""
    if not isinstance(said, list) or len(said) > CHANGES_MAX:
        raise UnfitChange(f"The changes of memory are no list of at most {CHANGES_MAX}.")
    return tuple(_change(one, named) for one in said)


def _change(one: Any, named: Named) -> Change:
    scope, key = (one.get("scope"), one.get("key")) if isinstance(one, dict) else (None, None)
    if not isinstance(scope, str) or not isinstance(key, str) or not 1 <= len(key) <= KEY_MAX:
        raise UnfitChange("A change of memory names no scope and key.")
    if not is_named(key, named.get(scope, ())) or not key.isprintable():
        raise UnfitChange(f"The contract does not name {key!r} in {scope[:20]} memory.")
    return Change(scope, key, one.get("value", ABSENT))
