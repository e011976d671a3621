"""The part of memory in a run's life. What a tool asks to have changed is written with its effects."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django.db.models import Q

from execution.engine.call import Call
from execution.engine.changes import Named
from execution.engine.features import Feature, Traits
from execution.engine.lease import Lease
from execution.engine.places import Place, place_of
from execution.memory.store import items_of
from toolhub_sdk.memory import is_named


class MemoryFeature(Feature):
    """Gives a tool what it may read of memory."""

    traits: ClassVar[Traits] = frozenset({"memory"})

    def before_start(self, lease: Lease, call: Call) -> None:
        """The keys that the contract names, as they are now."""
        named = lease.run.tool_version.declared["memory"]
        place = place_of(lease.run.persona_id, lease.run.request)
        call.memory = {"found": memory_given(place, named), "named": named}


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
