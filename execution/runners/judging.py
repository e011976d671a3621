"""What an attempt's end means, whoever carried it out: errors, bounds and schemas are read in one way."""

import dataclasses
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import toolhub_sdk
from core.codes import CODES
from core.errors import ToolHubError, error_object
from core.json.canonical import CanonicalError
from execution.engine.call import Call
from execution.engine.changes import UnfitChange, changes_read
from execution.engine.outcomes import Outcome, failure, success
from execution.models import Status
from execution.side_effects import SideEffect
from registry.schemas import output_validator, problems_of
from toolhub_sdk import ToolError

CODE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
MESSAGE_MOST = 2000


def ended(
    status: Status,
    error: dict[str, Any],
    *,
    started_at: datetime,
    duration_ms: float,
    side_effect: SideEffect = SideEffect.POSSIBLE,
) -> Outcome:
    """An outcome without a result, ended now."""
    return Outcome(status, started_at, datetime.now(UTC), duration_ms, error=error, side_effect=side_effect)


def said_itself(error: ToolError) -> SideEffect:
    """How far the effect went of a tool that ended with an error of its own.

    One that may be retried promises that nothing has happened yet (toolhub_sdk/errors.py).
    """
    return SideEffect.NONE if error.retryable else SideEffect.DONE


def refused_outcome(error: ToolHubError) -> Outcome:
    """The outcome of a call that could not begin."""
    now = datetime.now(UTC)
    return Outcome(Status.FAILED, now, now, 0.0, error=error.as_error(), side_effect=SideEffect.NONE)


def cancelled_error() -> dict[str, Any]:
    """The run was told to stop, and did."""
    return error_object("CANCELLED", "The run was cancelled.")


def timeout_error(call: Call) -> dict[str, Any]:
    """The run's time was over."""
    return error_object("TIMEOUT", f"{call.tool} took longer than {call.timeout_ms} ms.")


def unfit_error(problems: Sequence[Any]) -> dict[str, Any]:
    """The package does not have what its contract names; one sentence a problem."""
    told = [str(each)[:MESSAGE_MOST] for each in problems]
    return error_object("INVALID_MANIFEST", told[0], details={"problems": told})


def tool_error(call: Call, error: ToolError) -> dict[str, Any]:
    """The tool's own error, as JSON that can be kept; where it is none, an error that says so.

    What the tool declares of its codes stands where the error itself is silent.
    """
    try:
        made = _plain(error)
    except ToolError as unfit:
        made = _plain(unfit)
    return _as_declared(call, made)


def _as_declared(call: Call, made: dict[str, Any]) -> dict[str, Any]:
    """An error that its declaration calls not recoverable is not, whatever the tool says."""
    errors = call.version.declared.get("errors", ())
    declared = next((each for each in errors if each["code"] == made["code"]), None)
    if declared is None or made["code"] in CODES:
        return made
    return {
        **made,
        "type": declared.get("type", made["type"]),
        "severity": declared.get("severity", made["severity"]),
        "recoverable": made["recoverable"] and declared.get("recoverable", True),
        "suggestions": made["suggestions"] or list(declared.get("suggestions", ())),
    }


def error_read(said: Any) -> ToolError:
    """The error object of a program in a sandbox, `{code, message, recoverable, suggestions, …}`.

    What does not have that form becomes EXECUTION_FAILED, or is left out.
    """
    said = said if isinstance(said, dict) else {}
    suggestions, details = said.get("suggestions"), said.get("details")
    code, message = said.get("code"), said.get("message")
    whole = isinstance(code, str) and CODE.fullmatch(code) and isinstance(message, str)
    return ToolError(
        str(code) if whole else "EXECUTION_FAILED",
        str(message)[:MESSAGE_MOST] if whole else "The tool failed with an error that is none.",
        recoverable=said.get("recoverable") is not False,
        retryable=said.get("retryable") is True,
        suggestions=[str(one)[:MESSAGE_MOST] for one in suggestions[:20]]
        if isinstance(suggestions, list)
        else [],
        details=details if isinstance(details, dict) else {},
    )


def given(call: Call, data: Any, *, started_at: datetime, duration_ms: float) -> Outcome:
    """The outcome of a tool that gave this result, held to its bounds and schema."""
    try:
        done = success(data, started_at=started_at, ended_at=datetime.now(UTC), duration_ms=duration_ms)
    except CanonicalError as error:
        wrong = error_object("INVALID_OUTPUT", f"The result is not JSON: {error}")
        return ended(
            Status.FAILED,
            wrong,
            started_at=started_at,
            duration_ms=duration_ms,
            side_effect=SideEffect.DONE,
        )
    return checked(call, done)


def remembered(call: Call, done: Outcome, said: Any) -> Outcome:
    """The outcome with the changes of memory that the tool asks for; a failure where it may not."""
    if done.status is not Status.COMPLETED:
        return done
    try:
        changes = changes_read(said, (call.memory or {}).get("named", {}))
    except UnfitChange as unfit:
        return _unfit(done, failure("INVALID_OUTPUT", str(unfit), at=done.ended_at))
    return dataclasses.replace(done, memory=changes)


def _plain(error: ToolError) -> dict[str, Any]:
    made = error_object(
        error.code,
        error.message,
        recoverable=error.recoverable,
        retryable=error.retryable,
        suggestions=error.suggestions,
        details=error.details,
    )
    plain: Any = toolhub_sdk.normalise(made)
    return dict(plain)


def checked(call: Call, done: Outcome) -> Outcome:
    """Holds a result to the declared bounds and schema."""
    if len(done.encoded) > call.max_output_bytes:
        message = f"The result has {len(done.encoded)} bytes; {call.max_output_bytes} are allowed."
        return _unfit(done, failure("RESOURCE_EXCEEDED", message, at=done.ended_at))
    if call.hook:
        return done
    validator = output_validator(call.version.digest, call.version.definition)
    problems = problems_of(validator, done.data) if validator else []
    if problems:
        message = "The tool's result does not fit its schema."
        return _unfit(
            done, failure("INVALID_OUTPUT", message, at=done.ended_at, details={"errors": problems})
        )
    return done


def _unfit(done: Outcome, failed: Outcome) -> Outcome:
    """The failure with the times and the effect of the work that led to it."""
    return dataclasses.replace(
        failed,
        started_at=done.started_at,
        duration_ms=done.duration_ms,
        side_effect=done.side_effect,
    )
