"""Tries tools that are not published yet, with the runners that will carry them out."""

import uuid
from collections.abc import Mapping
from threading import Event
from typing import Any

from execution.models import Status
from execution.runners import RUNNERS, Call, call_run
from registry.installations.trials import Tried, trial_register
from registry.models import ToolVersion

# An example that takes longer holds up everybody's installations.
TRIAL_MS = 30_000


def trial(version: ToolVersion, arguments: Mapping[str, Any], cancelled: Event) -> Tried:
    """One call outside any run: nothing of it is recorded but what the installation's log says."""
    call = Call(
        run_id=uuid.uuid4(),
        tool=version.tool.name,
        runner=version.runner,
        version=version,
        arguments=arguments,
        request={},
        attempt=1,
        timeout_ms=min(version.timeout_ms, TRIAL_MS),
        max_output_bytes=version.max_output_bytes,
        inline=False,
        cancelled=cancelled,
        memory={"found": {}, "named": version.declared["memory"]} if "memory" in version.extras else None,
    )
    outcome = call_run(call)
    error = None if outcome.status is Status.COMPLETED else outcome.error
    return Tried(outcome.data, error, outcome.duration_ms, outcome.resources.get("disk_bytes", 0))


def trials_register() -> None:
    """For all runners but the hub's own, whose tools are never installed."""
    for runner in RUNNERS:
        if runner != "builtin":
            trial_register(runner, trial)
