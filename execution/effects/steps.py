"""Steps: effects worked out before the transaction that carries them out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from execution.memory.changes import Change

# What a tool changed by itself comes before the effects of its contract.
OWN = -1


@dataclass(frozen=True)
class Step:
    """One effect with its values. `index` is its place in the contract; OWN for the tool's own changes."""

    index: int
    kind: str
    description: str
    reversible: bool = True
    changes: tuple[Change, ...] = ()

    def named(self) -> dict[str, Any]:
        """What a run's event says of it."""
        return {"effect": self.index + 1, "type": self.kind, "description": self.description}


@dataclass(frozen=True)
class Fault:
    """The effect that could not be carried out, and why."""

    index: int
    kind: str
    description: str
    reason: str

    def named(self) -> dict[str, Any]:
        """What a run's event and the error say of it."""
        return {
            "effect": self.index + 1,
            "type": self.kind,
            "description": self.description,
            "reason": self.reason,
        }


@dataclass
class Plan:
    """All steps of an outcome. With a fault only those are carried out that cannot be taken back.

    `expected` is what values were worked out from, by scope and key: where they have changed meanwhile, it is
    to be planned anew.
    """

    steps: list[Step] = field(default_factory=list)
    fault: Fault | None = None
    expected: Mapping[tuple[str, str], Any] = field(default_factory=dict)

    @property
    def kept(self) -> list[Step]:
        return [step for step in self.steps if not (self.fault and step.reversible)]

    @property
    def taken_back(self) -> list[Step]:
        """In reverse."""
        return [step for step in reversed(self.steps) if self.fault and step.reversible]

    @property
    def scopes(self) -> set[str]:
        of_steps = {change.scope for step in self.kept for change in step.changes}
        return of_steps | {scope for scope, _ in self.expected}


class Changed(Exception):
    """What the plan rests on has changed meanwhile."""


class Failed(Exception):
    """A step could not be carried out: the transaction is taken back."""

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(reason)
        self.index = index
        self.reason = reason
