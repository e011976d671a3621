"""What a chain answers beside its results: how it went, in which order, how long, at which cost."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from execution.entry.operations.requests import ToolCall
from execution.entry.operations.words import Answer, Span, Tried, answer_body, result_view


def chain_answer(
    chain_id: UUID,
    calls: Sequence[ToolCall],
    tried: Mapping[str, Tried],
    skipped: Mapping[str, str],
    order: str,
    span: Span,
) -> Answer:
    """The answer of a chain whose `calls`, in the order in which they ran, were tried or skipped."""
    steps = [
        {
            "id": call.id,
            "index": call.index,
            "tool_name": call.name,
            "depends_on": list(call.needs),
            "status": tried[call.id].word if call.id in tried else "skipped",
            "reason": skipped.get(call.id),
        }
        for call in calls
    ]
    open_run = next((one.run for one in tried.values() if one.is_open), None)
    body = answer_body(
        "execute_chain",
        _status(tried, skipped),
        [result_view(one) for one in tried.values()],
        span=span,
        warnings=[f"{name!r} was not started. {why}" for name, why in skipped.items()],
        chain_id=str(chain_id),
        overall_status=_overall(tried, skipped),
        flow={"type": "sequential", "order": order, "steps": steps},
        total_duration_ms=span.ms(),
        total_resources=resources_total([one.run.resources for one in tried.values() if one.run]),
    )
    return Answer(body, open_run)


def _status(tried: Mapping[str, Tried], skipped: Mapping[str, str]) -> str:
    """S4's six words for the whole: that of the first call that did not complete."""
    unfinished = [one.status for one in tried.values() if one.status != "completed"]
    if unfinished:
        return unfinished[0]
    # Calls are skipped without an earlier failure only when the wait is over.
    return "timeout" if skipped else "completed"


def _overall(tried: Mapping[str, Tried], skipped: Mapping[str, str]) -> str | None:
    """success when all succeeded, failure when none did, else partial; None while a run goes on."""
    if any(one.is_open for one in tried.values()):
        return None
    succeeded = sum(one.word == "success" for one in tried.values())
    if succeeded == len(tried) + len(skipped):
        return "success"
    return "partial" if succeeded else "failure"


def resources_total(used: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The resources of several runs in one: the greatest of each `max_…`, the sum of everything else."""
    total: dict[str, Any] = {}
    for resources in used:
        for name, amount in resources.items():
            if not isinstance(amount, int | float):
                continue
            before = total.get(name, 0)
            total[name] = max(before, amount) if name.startswith("max_") else round(before + amount, 3)
    return total
