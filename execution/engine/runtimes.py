"""The hub's part of a runtime: what may be asked of it, and all that may be asked.

The engine knows runtimes by this protocol alone, and by their names in tool versions.
"""

from collections.abc import Callable, Iterable, Mapping
from threading import Event
from typing import Any, Protocol

from execution.engine.call import Call
from execution.engine.outcomes import Outcome
from registry.models import ToolVersion
from registry.runtimes import Made, runtime_unknown
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
    # Whether one call can carry the tool out for several seeds of the hash order (runners/repeating.py).
    can_repeat: bool
    made: Made | None

    def least_level(self, version: ToolVersion) -> str:
        """The least isolation of a tool, in a contract's words: none, basic, strict or paranoid."""
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


class Runtimes(dict[str, Runtime]):
    """The runtimes by name, loaded when the first is asked for. An unknown name raises RUNTIME_UNKNOWN.

    A dictionary, since each call asks: a lookup is no call of Python.
    """

    def __init__(self) -> None:
        self._find: Callable[[], Iterable[Runtime]] | None = None

    def install(self, find: Callable[[], Iterable[Runtime]]) -> None:
        """Say, once at start, what finds all runtimes."""
        self._find = find

    def __missing__(self, name: str) -> Runtime:
        if not self and self._find:
            self.load()
            return self[name]
        raise runtime_unknown(name)

    def load(self) -> "Runtimes":
        """Loads them once. Raises what finding them raises."""
        if not self and self._find:
            self.update({found.name: found for found in self._find()})
        return self


RUNTIMES = Runtimes()
