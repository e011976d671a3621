"""What a run's outcome tells of its recovery."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from execution.engine.outcomes import Outcome
from execution.models import Attempt, Status


def attempt_outcome(attempt: Attempt) -> Outcome:
    """What a failed attempt on record ended with, as the outcome of its run."""
    at = attempt.finished_at or attempt.claimed_at
    return Outcome(Status(attempt.status), at, at, attempt.duration_ms or 0.0, error=attempt.error)


def recovery_told(outcome: Outcome, what: Mapping[str, Any]) -> Outcome:
    """The outcome with what was tried in its error."""
    error = dict(outcome.error or {})
    details = {**error.get("details", {}), "recovery": dict(what)}
    return dataclasses.replace(outcome, error={**error, "details": details})
