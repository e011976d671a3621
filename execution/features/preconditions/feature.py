"""The part of preconditions in a run's life."""

from typing import ClassVar

from execution.engine.call import Call
from execution.engine.features import Conflict, Feature, Traits
from execution.engine.lease import Lease
from execution.engine.outcomes import Outcome
from execution.features.preconditions.check import failed_descriptions
from execution.features.preconditions.runs import preconditions_kept, preconditions_refusal


class PreconditionsFeature(Feature):
    """Checks, once and before the first attempt, what has to hold."""

    traits: ClassVar[Traits] = frozenset({"preconditions"})

    def before_start(self, lease: Lease, call: Call) -> Outcome | Conflict | None:
        """A critical one that failed ends the run; the tool hears of the others."""
        if not preconditions_kept(lease):
            return Conflict()
        call.degraded = failed_descriptions(lease.run.preconditions)
        return preconditions_refusal(lease.run)
