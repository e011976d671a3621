"""A run that is due, as it is chosen."""

from dataclasses import dataclass
from uuid import UUID

DEFAULT_SESSION = ("", "default")
"""How a run's row names the persona's default session."""


@dataclass(frozen=True)
class Choice:
    """A run that may be claimed, and what its caps are counted by. `at_once` is the tool's, if it has one."""

    run_id: UUID
    persona_id: int
    tool: str
    session: str
    at_once: int | None
