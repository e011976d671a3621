"""What a person can say became of a run that waits for one, as outcomes."""

import dataclasses
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from core.errors import InvalidRequest
from core.json.canonical import CanonicalError
from execution.engine.outcomes import Outcome, failure, success
from execution.features.recovery.outcomes import attempt_outcome, recovery_told
from execution.models import Attempt, Run, Status
from registry.schemas import output_validator, problems_of

REASON_MAX = 500


class Verdict(StrEnum):
    """What the person found, or wants."""

    DONE = "done"
    NOT_DONE = "not_done"
    COMPENSATE = "compensate"
    ANEW = "anew"


# Those for which it helps to know what the tool returned.
WITH_RESULT = frozenset({Verdict.DONE, Verdict.COMPENSATE})


def outcome_by(run: Run, verdict: Verdict, who: str, result: Any = None) -> Outcome:
    """The outcome by a person's verdict; `result` is what they found that the tool returned, else None.

    A run that failed and was left to a person keeps its own error where it fails in the end. Raises
    InvalidRequest for a result that the tool could not have returned.
    """
    now = datetime.now(UTC)
    given = None if result is None else _given(run, result, now)
    if run.status == Status.AWAITING_PERSON:
        return _of_failed(run, verdict, who, given or Outcome(Status.COMPLETED, now, now, 0.0))
    match verdict:
        case Verdict.NOT_DONE:
            return failure(
                "NOT_DONE", f"The worker was lost. {who} found that the work was not done.", at=now
            )
        case Verdict.ANEW:
            message = f"The worker was lost, and nobody knows what it did. {who} had it run anew."
            return failure("OUTCOME_UNKNOWN", message, at=now)
        case Verdict.COMPENSATE:
            message = f"The worker was lost, and nobody knows what it did. {who} had it undone."
            return failure("COMPENSATED", message, at=now)
    warnings = (f"The worker was lost. {who} found that the work was done.",)
    done = given or Outcome(Status.COMPLETED, now, now, 0.0)
    return dataclasses.replace(done, warnings=warnings)


def _of_failed(run: Run, verdict: Verdict, who: str, done: Outcome) -> Outcome:
    attempt = Attempt.objects.get(run=run, number=run.attempt)
    code, at = attempt.error_code, done.ended_at
    match verdict:
        case Verdict.DONE:
            said = f"{run.tool} failed with {code}. {who} found that the work was done."
            return dataclasses.replace(done, warnings=(said,))
        case Verdict.COMPENSATE:
            return failure("COMPENSATED", f"{run.tool} failed with {code}. {who} had it undone.", at=at)
    own = dataclasses.replace(attempt_outcome(attempt), status=Status.FAILED)
    return recovery_told(own, {"type": "manual", "by": who, "as": verdict.value})


def undone(outcome: Outcome, calls: list[dict[str, Any]]) -> Outcome:
    """The outcome of COMPENSATE with the calls that were made."""
    error = dict(outcome.error or {})
    return dataclasses.replace(outcome, error={**error, "details": {"compensations": calls}})


def _given(run: Run, result: Any, now: datetime) -> Outcome:
    """The outcome with a result that a person gives, held to the tool's schema and bound."""
    try:
        outcome = success(result, started_at=now, ended_at=now, duration_ms=0.0)
    except CanonicalError as error:
        raise _result_error(f"This is not exact JSON: {error}") from error
    if len(outcome.encoded) > run.max_output_bytes:
        raise _result_error(f"It has {len(outcome.encoded)} bytes; {run.max_output_bytes} are allowed.")
    validator = output_validator(run.tool_version.digest, run.tool_version.definition)
    problems = problems_of(validator, result) if validator else []
    if problems:
        raise _result_error(f"It does not fit the tool's schema: {problems[0]['message']}")
    return outcome


def _result_error(message: str) -> InvalidRequest:
    return InvalidRequest(message, errors=[{"pointer": "/result", "message": message}])
