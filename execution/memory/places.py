"""Whose memory a call has: the persona's own, by the ids of its context."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from execution.memory.models import Scope

DEFAULT = "default"


@dataclass(frozen=True)
class Place:
    """A persona's session and loop; ids that a call leaves out are `default`."""

    persona_id: int
    session: str = DEFAULT
    loop: str = DEFAULT

    def columns(self, scope: str) -> dict[str, Any]:
        """What names the space of a scope."""
        return {
            "persona_id": self.persona_id,
            "scope": scope,
            "session": "" if scope == Scope.LONG_TERM else self.session,
            "loop": self.loop if scope == Scope.WORKING else "",
        }


def place_of(persona_id: int, request: Mapping[str, Any]) -> Place:
    """The place of a run, by the request that stands in it."""
    context = request.get("context", {})
    return Place(persona_id, context.get("session_id", DEFAULT), context.get("loop_id", DEFAULT))
