"""Resolving a run whose outcome is unknown: a person looked, and says what became of it.

Done, not done, or run anew. A fourth way, to compensate, comes with the contract issue, where a
tool can name another one that takes back what it did.
"""

import dataclasses
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from django.db import transaction

from audit.ledger import Entry, record
from core.errors import InvalidRequest, ToolHubError
from core.json.canonical import CanonicalError
from execution.models import Run, Status
from execution.runs.again import request_again, submit_for
from execution.runs.events import RESOLVED, event_add
from execution.runs.finish import outcome_write
from execution.runs.outcomes import Outcome, failure, success
from execution.runs.states import FINAL
from registry.schemas import output_validator, problems_of
from security.models import User
from security.permissions import actor_of, require

REASON_MAX = 500


class Verdict(StrEnum):
    """What the person found, or wants."""

    DONE = "done"
    NOT_DONE = "not_done"
    ANEW = "anew"


def run_resolve(*, by: User, run: Run, verdict: Verdict, reason: str, result: Any = None) -> Run | None:
    """Gives a run its outcome on a person's word; returns the new run where it is run anew.

    DONE completes it, with `result` where one is given, which has to fit the tool's schema. NOT_DONE fails
    it with NOT_DONE. ANEW fails it with OUTCOME_UNKNOWN and submits the same request again, under the same
    persona and on the person's responsibility, through every check. Raises Denied, InvalidRequest for what
    is wrong with reason or result, Conflict and ToolHubError (409) when somebody or a late result was
    first, and for ANEW what `run_submit` raises.
    """
    require(by, "execution.resolve_run")
    reason = _reason_read(reason)
    outcome = _outcome(run, verdict, by, result)
    refused: ToolHubError | None = None
    new: Run | None = None
    with transaction.atomic():
        current = _unresolved(run)
        try:
            if verdict is Verdict.ANEW:
                new = submit_for(by, run.persona, run.tool, request_again(run))
        except ToolHubError as error:
            # Raised after the commit, so that the refusal stays on record.
            refused = error
        else:
            _write(by, current, verdict, reason, outcome, new)
    if refused:
        raise refused
    return new


def _reason_read(text: str) -> str:
    text = text.strip()
    if not 1 <= len(text) <= REASON_MAX:
        message = f"Say what you found, in at most {REASON_MAX} characters."
        raise InvalidRequest(message, errors=[{"pointer": "/reason", "message": message}])
    return text


def _unresolved(run: Run) -> Run:
    """The run, locked. Raises ToolHubError (409) when it is not to be resolved, or no longer."""
    current = Run.objects.select_for_update().get(pk=run.pk)
    if current.status != Status.OUTCOME_UNKNOWN:
        code = "ALREADY_FINISHED" if current.status in FINAL else "CONFLICT"
        raise ToolHubError(f"The run is {current.status.replace('_', ' ')}: nothing to resolve.", code=code)
    return current


def _outcome(run: Run, verdict: Verdict, by: User, result: Any) -> Outcome:
    now = datetime.now(UTC)
    who = by.get_username()
    if verdict is Verdict.NOT_DONE:
        return failure("NOT_DONE", f"The worker was lost. {who} found that the work was not done.", at=now)
    if verdict is Verdict.ANEW:
        message = f"The worker was lost, and nobody knows what it did. {who} had it run anew."
        return failure("OUTCOME_UNKNOWN", message, at=now)
    warnings = (f"The worker was lost. {who} found that the work was done.",)
    if result is None:
        return Outcome(Status.COMPLETED, now, now, 0.0, warnings=warnings)
    return dataclasses.replace(_given(run, result, now), warnings=warnings)


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


def _write(by: User, run: Run, verdict: Verdict, reason: str, outcome: Outcome, new: Run | None) -> None:
    """The event, the outcome and the ledger's entries, in the caller's transaction."""
    said = {"as": verdict.value, "reason": reason} | ({"new_run": str(new.pk)} if new else {})
    actor = actor_of(by)
    event_add(run.pk, RESOLVED, {"by": actor.name, **said})
    record(Entry("run.resolved", actor, "tool", run.tool, said, run.pk))
    outcome_write(
        run.pk, run.lease_token, source=Status.OUTCOME_UNKNOWN, who="person", outcome=outcome, actor=actor
    )
