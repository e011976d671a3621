"""Whether a failed attempt is repeated, and when. No transaction may be open: `retryIf` is CEL."""

import dataclasses
import logging
from collections.abc import Mapping
from typing import Any

from core.cel import ConditionFailed, cel_holds, cel_names
from execution.engine.outcomes import Outcome
from execution.engine.wait import attempts_repeated
from execution.features.retry.backoff import delay_ms
from execution.features.retry.policies import Policy, policy_of
from execution.models import Run, Status
from execution.side_effects import SideEffect
from registry.expressions import call_scope
from registry.models import ToolVersion

log = logging.getLogger(__name__)
EXHAUSTED = "MAX_RETRIES_EXCEEDED"


def retry_judge(run: Run, outcome: Outcome) -> tuple[Outcome, int | None]:
    """The outcome, and the ms to wait before the next attempt; None where this one is the last.

    The last of several gets `details.reason` MAX_RETRIES_EXCEEDED.
    """
    error, version = outcome.error, run.tool_version
    if error is None or outcome.status is Status.CANCELLED:
        return outcome, None
    policy = policy_of(version)
    failed = attempts_repeated(run) + 1
    if not (
        policy.max_retries and _happens_once(version, outcome) and is_retried(run, policy, error, failed)
    ):
        return outcome, None
    if failed > policy.max_retries:
        details = {**error.get("details", {}), "reason": EXHAUSTED}
        return dataclasses.replace(outcome, error={**error, "details": details}), None
    return outcome, delay_ms(policy.backoff, failed)


def is_retried(run: Run, policy: Policy, error: Mapping[str, Any], failed: int) -> bool:
    """Whether the policy repeats after this error, but for the number of retries.

    `failed` is how many attempts have failed, this one included. An error that is not recoverable is never
    repeated; a `retryIf` that fails is a no.
    """
    code = error["code"]
    if not error["recoverable"] or code in policy.non_retryable:
        return False
    if policy.retryable is not None and code not in policy.retryable:
        return False
    if not policy.retry_if:
        return True
    try:
        scope = call_scope(run.arguments, run.request) | {"error": dict(error), "attempt": failed}
        # What it does not name counts towards no limit.
        names = cel_names(policy.retry_if)
        if "persona" in names:
            scope["persona"] = run.persona.name
        return cel_holds(policy.retry_if, {name: scope[name] for name in scope if name in names})
    except ConditionFailed as failure:
        log.warning("retryIf after %s: %s", code, failure)
        return False


def _happens_once(version: ToolVersion, outcome: Outcome) -> bool:
    """Whether repeating repeats no effect: there is none, it does not add up, or nothing has happened yet."""
    none = outcome.side_effect is SideEffect.NONE
    return version.is_pure or version.is_idempotent or none or bool((outcome.error or {}).get("retryable"))
