"""Steps: effects worked out before the transaction that carries them out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import ToolHubError
from execution.engine.changes import Change
from execution.engine.children import Child
from security.facts import LimitFact

# What a tool changed by itself comes before the effects of its contract.
OWN = -1


@dataclass(frozen=True)
class Which:
    """Names one effect: its place in the contract (OWN for the tool's own changes), type and description."""

    index: int
    kind: str
    description: str

    def named(self) -> dict[str, Any]:
        """What a run's event and an error say of it; effects are counted from 1."""
        return {"effect": self.index + 1, "type": self.kind, "description": self.description}


OWN_CHANGES = Which(OWN, "memory", "What the tool changed in memory.")


@dataclass(frozen=True)
class Notice:
    """An event for the session's stream and the persona's webhooks."""

    name: str
    payload: Any


@dataclass(frozen=True)
class Step:
    """One effect with its values: changes of memory, an event, or a run."""

    which: Which
    reversible: bool = True
    changes: tuple[Change, ...] = ()
    notice: Notice | None = None
    child: Child | None = None


@dataclass(frozen=True)
class Fault:
    """The effect that could not be carried out, and why."""

    which: Which
    reason: str

    def named(self) -> dict[str, Any]:
        """What a run's event and the error say of it."""
        return {**self.which.named(), "reason": self.reason}


@dataclass(frozen=True)
class Compensation:
    """The tool that undoes an effect that was taken back; where it may not be called, why."""

    which: Which
    child: Child | None
    reason: str = ""


@dataclass
class Effects:
    """All steps of an outcome. With a fault only those are carried out that cannot be taken back.

    `expected` is what values were worked out from, by scope and key: where they have changed meanwhile, it is
    to be planned anew.
    """

    steps: list[Step] = field(default_factory=list)
    fault: Fault | None = None
    compensations: list[Compensation] = field(default_factory=list)
    expected: Mapping[tuple[str, str], Any] = field(default_factory=dict)

    @property
    def kept(self) -> list[Step]:
        return [step for step in self.steps if not (self.fault and step.reversible)]

    @property
    def taken_back(self) -> list[Step]:
        """In reverse."""
        return [step for step in reversed(self.steps) if self.fault and step.reversible]

    @property
    def children(self) -> list[Child]:
        """The runs that are to be submitted."""
        found = [step.child for step in self.kept] + [one.child for one in self.compensations]
        return [child for child in found if child]

    @property
    def limits(self) -> list[LimitFact]:
        """What these runs count against."""
        return [limit for child in self.children for limit in child.checked.found.policy.limits]

    @property
    def scopes(self) -> set[str]:
        of_steps = {change.scope for step in self.kept for change in step.changes}
        return of_steps | {scope for scope, _ in self.expected}


class Unworkable(Exception):
    """An effect cannot be worked out. The text says why."""


@dataclass(frozen=True)
class Failed:
    """A step could not be carried out: the transaction is taken back. `child` is the run it should be."""

    index: int
    cause: ToolHubError
    child: Child | None = None
