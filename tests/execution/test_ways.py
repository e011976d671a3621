"""The short way and the workers' way write the same kinds of rows and the same hash."""

from collections.abc import Callable
from typing import Any

import pytest

from audit.models import Event
from execution.models import Run, Status
from execution.runs.brief import attempts_of, events_of
from execution.runs.worker import queue_work
from registry.models import Package

pytestmark = pytest.mark.django_db
Call = Callable[..., Any]


def way(call: Call, tool: str, arguments: Any, prefer: str) -> dict[str, Any]:
    """What one call left behind, without what differs by nature: ids, times, who worked."""
    call(tool, body={"arguments": arguments, "context_data": {"k": 1}}, HTTP_PREFER=prefer)
    Run.objects.filter(status=Status.PENDING).update(due_at="2026-01-01T00:00:00Z")
    queue_work("default")
    run = Run.objects.latest("id")
    (attempt,) = attempts_of(run)
    assert (attempt.duration_ms, attempt.error, attempt.finished_at is None) == (
        run.duration_ms,
        run.error,
        False,
    )
    events = [(e.kind, sorted(e.data)) for e in events_of(run) if e.kind != "RUN_CLAIMED"]
    ledger = list(Event.objects.filter(run_id=run.pk).order_by("id").values_list("kind", flat=True))
    columns = (
        "status",
        "attempt",
        "arguments",
        "request",
        "timeout_ms",
        "max_output_bytes",
        "result",
        "error",
    )
    assert [e.seq for e in events_of(run)] == list(range(1, run.events_count + 1))
    assert events_of(run, after=2) == events_of(run)[2:]
    assert (run.started_at is None, run.completed_at is None) == (False, False)
    return {
        "run": {name: getattr(run, name) for name in columns},
        "hashes": [bytes(run.arguments_hash), run.result_hash and bytes(run.result_hash)],
        "attempt": (attempt.number, attempt.status, attempt.error_code, attempt.started_at is not None),
        "events": events,
        "ledger": ledger,
        "leaf": run.outcome_leaf is not None,
        "resources": sorted(run.resources),
    }


CALLS = [
    ("fx_echo", {"value": {"b": [1.0, "é"], "a": None}}),
    ("fx_boom", {}),
    ("fx_refuse", {"details": [1]}),
    ("fx_badout", {}),
    ("fx_big", {"size": 500}),
]


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
def test_both_ways_leave_the_same_behind(call: Call, fx: Package, tool: str, arguments: Any) -> None:
    assert way(call, tool, arguments, "wait=30") == way(call, tool, arguments, "respond-async")


def test_an_impure_tool_is_started_in_the_record_before_it_works(
    call: Call, fx: Package, tmp_path: Any
) -> None:
    body = {"arguments": {"file": str(tmp_path / "world")}, "limits": {"timeoutMs": 1000}}
    response = call("fx_count", body=body)
    assert (response.status_code, response.json()["data"]) == (200, {"attempt": 1})
    run = Run.objects.get()
    kinds = list(run.events.values_list("kind", flat=True))
    assert kinds == ["TOOL_CALL_REQUESTED", "RUN_CLAIMED", "RUN_STARTED", "TOOL_CALL_COMPLETED"]
    assert run.inline is True
    assert len((tmp_path / "world").read_text().splitlines()) == 1
