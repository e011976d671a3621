"""The schema hook of a tool: how it is called, what it may answer, and what that means for a call."""

import dataclasses
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from core.errors import InvalidRequest, error_object
from execution.engine.call import Call, dropped
from execution.engine.calls.dynamic_schemas import problems_by, schema_keep, schema_kept, schema_read
from execution.engine.outcomes import Outcome, failure
from execution.models import Status
from execution.runners.judging import ended, given
from execution.side_effects import SideEffect

Perform = Callable[[Call], Outcome]


def dynamic_run(call: Call, perform: Perform) -> Outcome:
    """Carries a call out; where its tool's schema depends on the context, by what the hook says to it.

    `perform` runs a function of the tool in the sandbox: the hook where `call.hook` says so.
    """
    if not call.version.is_dynamic or call.look == "only":
        return perform(call)
    if call.hook:
        return _kept(call, perform(call))
    schema = schema_kept(call.version, call.persona_id, call.request) if call.version.pk else None
    if schema is None:
        hook = dataclasses.replace(call, hook="schema", emit=dropped, ordered=time.monotonic())
        made = dynamic_run(hook, perform)
        if made.status is not Status.COMPLETED:
            return made
        # Hook and tool share the tool's time; each has a start of its own.
        left = max(1, call.timeout_ms - round(made.duration_ms))
        call = dataclasses.replace(call, timeout_ms=left, ordered=time.monotonic())
        schema = made.data
    problems = problems_by(schema, call.arguments)
    if problems:
        message = f"The arguments do not fit {call.tool} in this context: {problems[0]['message']}"
        return failure(
            "INVALID_ARGUMENTS",
            message[:2000],
            at=datetime.now(UTC),
            details={"errors": problems},
            side_effect=SideEffect.NONE,
        )
    return perform(call)


def _kept(call: Call, made: Outcome) -> Outcome:
    if made.status is Status.COMPLETED and call.version.pk:
        schema_keep(call.version, call.persona_id, call.request, made.data, call.run_id)
    return made


def schema_given(call: Call, data: Any, *, started_at: datetime, duration_ms: float) -> Outcome:
    """The outcome of a hook that made this schema."""
    try:
        schema_read(data)
    except InvalidRequest as error:
        message = f"The schema hook of {call.tool} made no schema that the hub takes: {error.message}"
        details = {"errors": error.errors}
        wrong = error_object("INVALID_OUTPUT", message[:2000], details=details)
        return ended(Status.FAILED, wrong, started_at=started_at, duration_ms=duration_ms)
    return given(call, data, started_at=started_at, duration_ms=duration_ms)
