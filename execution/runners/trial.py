"""Tries tools that are not published yet, with the runners that will carry them out."""

import uuid
from datetime import UTC, datetime
from typing import Any

from core.errors import error_object
from execution.engine.call import Call
from execution.engine.outcomes import Outcome
from execution.engine.runtimes import RUNTIMES
from execution.models import Status
from execution.runners.perform import call_run
from registry.installations.trials import Ask, Fault, Tried, trial_register
from registry.models import ToolVersion

# An example that takes longer holds up everybody's installations.
TRIAL_MS = 30_000
# Of a bounded tool each try has the same time and chance.
_RUN = uuid.UUID(int=1)
_MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
UNREPEATED = error_object("NOT_AVAILABLE", "The runtime carries a tool out once a call.")


def trial(version: ToolVersion, ask: Ask) -> Tried:
    """One call outside any run: nothing of it is recorded but what the installation's log says."""
    runtime = RUNTIMES[version.runner]
    if ask.arguments is None and not runtime.can_look:
        return Tried(None, None, 0.0)
    if ask.seeds and not runtime.can_repeat:
        return Tried(None, UNREPEATED, 0.0)
    bounded = version.determinism == "bounded"
    timeout_ms = min(max(version.timeout_ms, ask.least_ms) * max(1, len(ask.seeds)), TRIAL_MS)
    call = Call(
        run_id=_RUN if bounded else uuid.uuid4(),
        tool=version.tool.name,
        runner=version.runner,
        version=version,
        arguments=ask.arguments or {},
        request={},
        attempt=1,
        timeout_ms=timeout_ms,
        max_output_bytes=version.max_output_bytes,
        inline=False,
        cancelled=ask.cancelled,
        moment=_MOMENT if bounded else None,
        memory={"found": {}, "named": version.declared["memory"]} if "memory" in version.extras else None,
        look="only" if ask.arguments is None else "first" if ask.look else "",
        seed=ask.seed,
        seeds=ask.seeds,
        fresh=True,
    )
    outcome = call_run(call)
    used = outcome.resources
    # Of a tool that is only looked for, the start is what takes time.
    start_ms = used.get("start_ms", 0.0) if ask.arguments is None else 0.0
    return Tried(
        outcome.data,
        None if outcome.status is Status.COMPLETED else outcome.error,
        outcome.duration_ms + start_ms,
        wrote=used.get("disk_bytes", 0),
        cpu_ms=used.get("cpu_ms", 0),
        remembered=bool(outcome.memory),
        fault=_fault(outcome),
    )


def _fault(outcome: Outcome) -> Fault:
    """Whether the machine may have ended the call, and not the tool."""
    error: dict[str, Any] = dict(outcome.error or {})
    if outcome.status is Status.TIMEOUT:
        return "time"
    if outcome.status is Status.COMPLETED or outcome.status is Status.CANCELLED:
        return ""
    details = error.get("details", {})
    if details.get("ended_by") == "machine":
        return "killed"
    started = outcome.sandbox is not None
    if error.get("code") == "START_FAILED":
        return "start"
    if error.get("code") == "SANDBOX_UNAVAILABLE":
        return "" if "probes" in details else "start"
    if error.get("code") == "RESOURCE_EXCEEDED" and not started:
        return "start" if error.get("recoverable") else ""
    return "start" if error.get("retryable") and not started else ""


def trials_register() -> None:
    """For all runtimes but the hub's own, whose tools are never installed."""
    for name, runtime in RUNTIMES.load().items():
        if not runtime.is_trusted:
            trial_register(name, trial)
