"""What a feature may add to a run's life.

The engine knows this protocol and no feature by name: execution/lifecycle.py hands it the features, in the
order in which they act. A feature answers with plans; the engine writes all plans of a step in one
transaction.
"""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar
from uuid import UUID

from django.db import models

from audit.ledger import Entry
from core.actors import Actor
from execution.engine.accepted import Accepted
from execution.engine.call import Call
from execution.engine.lease import Lease
from execution.engine.outcomes import Outcome
from execution.engine.requests import CallRequest
from execution.models import Run, Status
from registry.selectors import ResolvedTool
from security.principals import PersonaPrincipal

Traits = frozenset[str]
NONE: Traits = frozenset()
# Traits that a call or its outcome brings. All others are words of the tool's contract (ToolVersion.extras).
ASKS, CALLBACK, FILES, LIMITS = "asks", "callback_url", "files", "limits"


@dataclass(frozen=True)
class Conflict:
    """Why a step's plans could not be written: nothing of the step was, and it is planned anew.

    `what` is for the feature that made the plan. `is_stale` says that what the call was decided on has
    changed: the call is decided anew.
    """

    what: Any = None
    is_stale: bool = False


Conflicts = Sequence[Conflict]


@dataclass(frozen=True)
class LockKind:
    """Rows that are locked together, until the transaction ends: `take` locks those with the given keys.

    Kinds are locked by rank and keys in their order, so that no two transactions wait for each other.
    """

    rank: int
    take: Callable[[Sequence[Any]], Any]


Held = Mapping[LockKind, Any]
"""What `take` gave, by kind of lock."""
Act = Callable[[Run, Held], Conflict | None]


@dataclass
class Plan:
    """What a feature wants written with a step of a run.

    `locks` holds keys by their kind. When they are locked, `guards` are asked and then `acts` carried out, in
    order; each may answer with a Conflict. `after` is carried out once the step itself is written.
    """

    locks: Mapping[LockKind, Iterable[Any]] = field(default_factory=dict)
    guards: Sequence[Act] = ()
    acts: Sequence[Act] = ()
    after: Sequence[Act] = ()
    # Of a run that is accepted: its first status, and what is told of that.
    status: Status | None = None
    events: Sequence[tuple[str, Mapping[str, Any]]] = ()
    entries: Sequence[Entry] = ()
    rows: Sequence[models.Model] = ()
    # Of a run that ends: the outcome in place of the one that it would have.
    outcome: Outcome | None = None


@dataclass(frozen=True)
class Wait:
    """A run that waits in `target` after a failed attempt, in place of ending.

    `kind` and `told` are its event. After `delay_ms` the attempt is repeated; None where something else ends
    the wait.
    """

    target: Status
    kind: str
    told: Mapping[str, Any] = field(default_factory=dict)
    delay_ms: int | None = None
    plan: Plan | None = None


class Feature:
    """A part of runs' lives. It has those of the steps below that it overrides.

    `traits` says which calls it is about: those that have one of them.
    """

    traits: ClassVar[Traits] = NONE
    # Members of a run's metadata that `shown` gives; null for calls that it is not about.
    members: ClassVar[tuple[str, ...]] = ()

    def before_accept(self, principal: PersonaPrincipal, found: ResolvedTool, request: CallRequest) -> None:
        """Look at a call before it is accepted. Raises ToolHubError where it is refused."""

    def at_accept(self, accepted: Accepted, run: Run, conflicts: Conflicts) -> Plan | None:
        """Plan what is written with an accepted run. Raises ToolHubError where it is refused after all."""

    def settled(self, run: Run) -> str:
        """Say who settled what the decision asks about this run; empty where nobody did."""
        return ""

    def before_start(self, lease: Lease, call: Call) -> Outcome | Conflict | None:
        """Prepare a call whose start is committed.

        An outcome ends the run without the tool; a Conflict says that the lease is lost.
        """

    def after_attempt(self, lease: Lease, outcome: Outcome, conflicts: Conflicts) -> Outcome | Wait:
        """Say what becomes of an attempt's outcome: it stays, it changes, or the run waits."""
        return outcome

    def at_attempt_end(self, run: Run, outcome: Outcome) -> Plan | None:
        """Plan what is written when an attempt ends, be it that the run ends or waits."""

    def at_outcome(self, run: Run, outcome: Outcome, conflicts: Conflicts) -> Plan | None:
        """Plan what follows from a run's outcome."""

    def at_cancel(self, run: Run, by: Actor) -> None:
        """Drop what a run waits for, in the transaction that cancels it."""

    def after_cancel(self, run: Run, by: Actor) -> None:
        """Stop what else goes on for a run that was cancelled."""

    def at_expiry(self, run_ids: Sequence[UUID]) -> None:
        """Remove the feature's part of payloads, in the transaction that removes them with age."""

    def shown(self, run: Run) -> Mapping[str, Any]:
        """Give the members that the feature adds to a run's metadata."""
        return {}


class Lifecycle:
    """The features in the order in which they act, and what carries calls out.

    Compiled by the traits of calls: a feature that is about none of them is not asked.
    """

    def __init__(self) -> None:
        self.features: tuple[Feature, ...] = ()
        self.call_run: Callable[[Call], Outcome] = _not_installed
        self.members: dict[str, None] = {}
        self._compiled: dict[tuple[str, Traits | None], tuple[Any, ...]] = {}

    def install(self, features: Sequence[Feature], call_run: Callable[[Call], Outcome]) -> None:
        """Say, once at start, which features there are and what carries a call out."""
        self.features, self.call_run = tuple(features), call_run
        self.members = {name: None for feature in features for name in feature.members}
        self._compiled = {}

    def acting(self, step: str, traits: Traits | None = None) -> tuple[Any, ...]:
        """The hooks of a step, in order, that are about calls with these traits; all of them for None."""
        found = self._compiled.get((step, traits))
        if found is None:
            found = self._compiled[step, traits] = tuple(
                getattr(feature, step)
                for feature in self.features
                if (traits is None or feature.traits & traits)
                and getattr(type(feature), step) is not getattr(Feature, step)
            )
        return found


def _not_installed(call: Call) -> Outcome:
    raise RuntimeError("No lifecycle is installed: execution/lifecycle.py is read when the app is ready.")


LIFE = Lifecycle()


def traits_of(run: Run) -> Traits:
    """The traits of a run: what its contract declares, and what its call brought.

    A hook that is called in the tool's place has none of the contract's.
    """
    traits: Traits = NONE if "hook" in run.request else run.tool_version.extras
    if run.metered:
        traits |= {LIMITS}
    return traits | {CALLBACK} if CALLBACK in run.request else traits


@functools.lru_cache(maxsize=512)
def with_trait(traits: Traits, more: str) -> Traits:
    """The traits with one more."""
    return traits | {more}
