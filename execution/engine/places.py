"""Whose memory a call has: the persona's own, by the ids of its context."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

DEFAULT = "default"


@dataclass(frozen=True)
class Place:
    """A persona's session and loop; ids that a call leaves out are `default`."""

    persona_id: int
    session: str = DEFAULT
    loop: str = DEFAULT


def place_of(persona_id: int, request: Mapping[str, Any]) -> Place:
    """The place of a run, by the request that stands in it."""
    context = request.get("context", {})
    return Place(persona_id, context.get("session_id", DEFAULT), context.get("loop_id", DEFAULT))
