"""The part of limits in a run's life."""

from typing import ClassVar

from core.json.canonical import canonical
from execution.engine.accepted import Accepted
from execution.engine.calls.checks import limit_denied
from execution.engine.features import LIMITS, Conflict, Conflicts, Feature, Held, Plan, Traits
from execution.engine.locks import USAGE
from execution.engine.outcomes import Outcome
from execution.models import Run
from security.policy.usage import Gone, Reached, booked_keys, limits_spend, usage_book


class LimitsFeature(Feature):
    """Counts calls against limits, and books time and bytes."""

    traits: ClassVar[Traits] = frozenset({LIMITS})

    def at_accept(self, accepted: Accepted, run: Run, conflicts: Conflicts) -> Plan | None:
        """The call is counted by the transaction that accepts it. Raises ToolHubError (429)."""
        reached = next((one.what for one in conflicts if isinstance(one.what, Reached)), None)
        if reached:
            raise limit_denied(accepted.principal, accepted.found, accepted.request, reached.told)

        def spend(run: Run, held: Held) -> Conflict | None:
            found = limits_spend(accepted.limits, run.persona_id)
            return Conflict(found, is_stale=isinstance(found, Gone)) if found else None

        return Plan(guards=[spend])

    def at_attempt_end(self, run: Run, outcome: Outcome) -> Plan | None:
        """What the attempt took: its time, and its arguments and result in canonical form."""
        if not run.metered:
            return None

        def book(run: Run, held: Held) -> None:
            size = len(canonical(run.arguments)) + len(outcome.encoded)
            usage_book(run.metered, duration_ms=outcome.duration_ms, size=size)

        return Plan(locks={USAGE: booked_keys(run.metered)}, after=[book])
