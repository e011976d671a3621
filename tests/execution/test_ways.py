"""The short way and the workers' way write the same kinds of rows and the same hash."""

import hashlib
import json
import random
import struct
from collections.abc import Callable
from typing import Any

import pytest
import rfc8785

from audit.models import Event
from execution.engine.brief import attempts_of, events_of
from execution.engine.perform import queue_work
from execution.models import Run, Status
from registry.models import Package
from tests.execution.mcp.conftest import Ask, ask
from tests.execution.operations.conftest import Operate, operate

__all__ = ["ask", "operate"]
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


def test_one_call_has_one_hash_by_every_way(call: Call, fx: Package, operate: Operate, ask: Ask) -> None:
    """Over REST at once, by a worker, in S4's form, and over MCP: that of the canonical form of its result."""
    value = {"\U0001f600": [1e21, -0.0, 5e-324, 2**53 - 1], "\ue000": {"b": 1.0, "a": None}}
    expected = hashlib.sha256(rfc8785.dumps(value)).hexdigest()
    assert call("fx_echo", {"value": value}).json()["metadata"]["result_hash"] == expected
    assert call("fx_echo", {"value": value}, HTTP_PREFER="respond-async").status_code == 202
    Run.objects.filter(status=Status.PENDING).update(due_at="2026-01-01T00:00:00Z")
    queue_work("default")
    single = operate(
        "execute_single", parameters={"toolName": "fx_echo", "arguments": {"value": value}}
    ).json()
    assert single["results"][0]["metadata"]["result_hash"] == expected
    over_mcp = ask("tools/call", name="fx_echo", arguments={"value": value}).json()["result"]
    assert over_mcp["_meta"]["io.toolhub/run"]["result_hash"] == expected
    assert hashlib.sha256(over_mcp["content"][0]["text"].encode()).hexdigest() == expected
    runs = Run.objects.order_by("id")
    assert [bytes(run.result_hash or b"").hex() for run in runs] == [expected] * 4
    assert [run.inline for run in runs] == [True, False, True, True]


def test_a_hundred_random_results_have_the_hash_of_their_canonical_form(
    call: Call, fx: Package, settings: Any
) -> None:
    settings.SESSION_RUNS_MAX = 0
    chance = random.Random(29)

    def made(depth: int) -> Any:
        number = struct.unpack(">d", chance.randbytes(8))[0]
        letters = "".join(chance.choices('a\x00"é\ue000\U0001f600', k=4))
        plain = [
            None,
            True,
            chance.randint(-(2**53) + 1, 2**53 - 1),
            letters,
            0.1 if number - number else number,
        ]
        if depth == 0 or chance.random() < 0.3:
            return chance.choice(plain)
        inner = [made(depth - 1) for _ in range(chance.randint(0, 4))]
        return inner if chance.random() < 0.5 else {f"{letters}{n}": each for n, each in enumerate(inner)}

    for _ in range(100):
        answer = json.loads(call("fx_echo", {"value": made(4)}).content, parse_int=float)
        assert answer["success"] is True
        expected = hashlib.sha256(rfc8785.dumps(answer["data"])).hexdigest()
        assert answer["metadata"]["result_hash"] == expected


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
