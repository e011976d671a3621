"""What runtimes of this hub have in common. What may be asked of one: execution/engine/runtimes.py."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from threading import Event
from typing import Any

from execution.engine.call import Call
from execution.engine.outcomes import Outcome
from execution.engine.queues import DEFAULT, SANDBOX
from registry.contracts import isolation_of
from registry.models import ToolVersion
from registry.runtimes import Made
from security.sandbox.abilities import Ability


class Runner(ABC):
    """A runtime whose code a sandbox holds, in a worker. A subclass sets `name` and what differs."""

    name: str
    queue: str = SANDBOX
    may_run_inline: bool = False
    is_sandboxed: bool = True
    is_trusted: bool = False
    can_look: bool = True
    can_repeat: bool = False
    made: Made | None = None

    def least_level(self, version: ToolVersion) -> str:
        """What the contract asks for, where a sandbox holds the tool; else none."""
        return isolation_of(version.declared) if self.is_sandboxed else "none"

    def prepare(
        self, runtime: Mapping[str, Any], files: Mapping[str, bytes], cancelled: Event
    ) -> tuple[str, ...]:
        """Makes nothing."""
        return ()

    def health(self) -> Ability | None:
        """It needs no more than the hub does."""
        return None

    @abstractmethod
    def run(self, call: Call) -> Outcome:
        """Carries a call out; never raises for what the tool does."""


class HubRunner(Runner):
    """A runtime that runs no code from outside: its work is the hub's own, in the hub's process."""

    queue = DEFAULT
    may_run_inline = True
    is_sandboxed = False
