"""What a tool asks to have changed in memory, and what it is given of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from execution.memory.places import Place
from execution.memory.store import ABSENT, items_of
from execution.memory.values import KEY_MAX
from toolhub_sdk.memory import is_named

CHANGES_MAX = 1_000
Named = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Change:
    """A value to be written under a scope and key; ABSENT deletes."""

    scope: str
    key: str
    value: Any


class UnfitChange(ValueError):
    """A tool's change has not the form, or is not named by its contract. The text says which."""


def memory_given(place: Place, named: Named) -> dict[str, dict[str, Any]]:
    """What is there now of the keys that a contract names, by scope and key."""
    return {scope: _found(place, scope, patterns) for scope, patterns in named.items()}


def _found(place: Place, scope: str, patterns: Sequence[str]) -> dict[str, Any]:
    wanted = Q(key__in=patterns)
    for one in patterns:
        if one.endswith("*"):
            wanted |= Q(key__startswith=one[:-1])
    rows = items_of(place, scope).filter(wanted).values_list("key", "value")
    # SQLite's LIKE does not tell capitals from small letters.
    return {key: value for key, value in rows if is_named(key, patterns)}


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
