"""The hub's part of a runtime: what may be asked of it, and all that may be asked.

The engine knows runtimes by the protocol Runtime alone; registry.py has them by name.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from threading import Event
from typing import Any, Protocol

from execution.engine.outcomes import Outcome
from execution.runners.call import Call
from execution.runners.queues import DEFAULT, SANDBOX
from registry.contracts import isolation_of
from registry.runtimes import Made
from security.sandbox.abilities import Ability


class Runtime(Protocol):
    """What may be asked of a runtime. `made` and `prepare` are for installations (registry/runtimes.py)."""

    # The SDK's part has the same name (toolhub_sdk/runtimes/).
    name: str
    # The queue in which runs wait for a worker (queues.py).
    queue: str
    # Whether a quick call may be carried out in the web process that took it.
    may_run_inline: bool
    # Whether a sandbox holds the tool's code.
    is_sandboxed: bool
    # Whether the code is the hub's own, and runs in the hub's process.
    is_trusted: bool
    # Whether something of the tool is on this machine that can be looked for without a call.
    can_look: bool
    made: Made | None

    def least_level(self, declared: Mapping[str, Any]) -> str:
        """The least isolation of a tool with this contract: none, basic, strict or paranoid."""
        ...

    def prepare(
        self, runtime: Mapping[str, Any], files: Mapping[str, bytes], cancelled: Event
    ) -> tuple[str, ...]:
        """Makes ready on this machine what calls need, and returns a sentence for each thing made.

        `runtime` is the manifest's, `files` are the package's (path → bytes). Raises ToolHubError.
        """
        ...

    def health(self) -> Ability | None:
        """Whether this machine has what the runtime needs; None where it needs no more than the hub does."""
        ...

    def run(self, call: Call) -> Outcome:
        """Carries a call out; never raises for what the tool does."""
        ...


class Runner(ABC):
    """A runtime whose code a sandbox holds, in a worker. A subclass sets `name` and what differs."""

    name: str
    queue: str = SANDBOX
    may_run_inline: bool = False
    is_sandboxed: bool = True
    is_trusted: bool = False
    can_look: bool = True
    made: Made | None = None

    def least_level(self, declared: Mapping[str, Any]) -> str:
        """What the contract asks for, where a sandbox holds the tool; else none."""
        return isolation_of(declared) if self.is_sandboxed else "none"

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
