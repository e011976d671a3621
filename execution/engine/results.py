"""The one result shape: `{success, data, error, metadata}`, everywhere."""

from typing import Any

import orjson

from core.json.canonical import canonical
from execution.engine.brief import attempts_of
from execution.engine.events import iso
from execution.engine.features import LIFE, traits_of
from execution.engine.runtimes import RUNTIMES
from execution.engine.states import FINAL
from execution.models import Attempt, Run, Status


def metadata_of(run: Run) -> dict[str, Any]:
    """The `metadata` member. Times RFC 3339 UTC, durations ms, hashes hex; `artefacts` if there are any."""
    files = (run.sandbox or {}).get("artefacts")
    runtime = RUNTIMES.get(run.tool_version.runner)
    is_held = runtime is None or runtime.is_sandboxed
    metadata = ({"artefacts": files} if files else {}) | {
        "run_id": str(run.pk),
        "tool": run.tool,
        "version": run.tool_version.version,
        "status": run.status,
        "created_at": iso(run.created_at),
        "started_at": iso(run.started_at),
        "completed_at": iso(run.completed_at),
        "duration_ms": run.duration_ms,
        "attempts": run.attempt,
        "arguments_hash": bytes(run.arguments_hash).hex(),
        "result_hash": bytes(run.result_hash).hex() if run.result_hash else None,
        "degraded": bool(run.preconditions and run.preconditions["degraded_mode"]),
        "sandbox": (run.sandbox or {}).get("level") if is_held else "none",
        "side_effect": run.side_effect or None,
        "resources": run.resources,
        "audit_leaf": bytes(run.outcome_leaf).hex() if run.outcome_leaf else None,
        "warnings": run.warnings,
        **LIFE.members,
        "origin": str(run.origin_id) if run.origin_id else None,
        "parent_run_id": str(run.parent_id) if run.parent_id else None,
        "payload_expired_at": iso(run.payload_expired_at),
    }
    for shown in LIFE.acting("shown", traits_of(run)):
        metadata |= shown(run)
    return metadata


def run_view(run: Run) -> dict[str, Any]:
    """A run as its caller reads it: the result, its attempts and preconditions, and runs that follow."""
    attempts = [_attempt_view(one) for one in attempts_of(run)]
    children = [
        {"run_id": str(pk), "tool": tool, "status": status}
        for pk, tool, status in run.children.order_by("pk").values_list("pk", "tool", "status")
    ]
    return {
        **envelope(run),
        "attempts": attempts,
        "preconditions": run.preconditions,
        "children": children,
        "violations": run.request.get("violations", []),
    }


def _attempt_view(attempt: Attempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "status": attempt.status or None,
        "error": attempt.error,
        "started_at": iso(attempt.started_at),
        "finished_at": iso(attempt.finished_at),
        "duration_ms": attempt.duration_ms,
        "side_effect": attempt.side_effect or None,
        "delay_ms": attempt.delay_ms,
    }


def envelope(run: Run) -> dict[str, Any]:
    """The result of a run. `success` is null until there is an outcome.

    `data` holds exactly the canonical bytes that `result_hash` is over; null where the payload was removed
    with age, which `metadata.payload_expired_at` tells.
    """
    done = run.status in FINAL
    completed = run.status == Status.COMPLETED
    return {
        "success": completed if done else None,
        "data": orjson.Fragment(canonical(run.result)) if completed else None,
        "error": run.error_told,
        "metadata": metadata_of(run),
    }
