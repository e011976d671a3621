"""The part of retries in a run's life."""

from collections.abc import Mapping
from typing import Any, ClassVar

from execution.engine.features import Conflicts, Feature, Traits, Wait
from execution.engine.lease import Lease
from execution.engine.outcomes import Outcome
from execution.features.retry.judge import retry_judge
from execution.models import Status
from execution.run_events import RETRY_WAITS

# A server may ask for at most this much of a pause.
RETRY_AFTER_MOST_MS = 3_600_000


class RetryFeature(Feature):
    """Repeats a failed attempt as the tool's policy says."""

    traits: ClassVar[Traits] = frozenset({"retry", "recovery"})

    def after_attempt(self, lease: Lease, outcome: Outcome, conflicts: Conflicts) -> Outcome | Wait:
        """The run waits for its next attempt, or this one was the last."""
        judged, delay_ms = retry_judge(lease.run, outcome)
        if delay_ms is None:
            return judged
        asked = retry_after_ms(judged.error or {})
        told: dict[str, Any] = {"delay_ms": max(delay_ms, min(asked, RETRY_AFTER_MOST_MS))}
        if asked:
            told |= {"retry_after_ms": asked, "capped": asked > RETRY_AFTER_MOST_MS}
        return Wait(Status.WAITING_RETRY, RETRY_WAITS, told, told["delay_ms"])


def retry_after_ms(error: Mapping[str, Any]) -> int:
    """How long a server asks to be left alone, in ms; 0 where it says nothing."""
    seconds = error.get("details", {}).get("retry_after_s")
    known = isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds > 0
    return round(seconds * 1000) if known else 0
