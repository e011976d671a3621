"""Threads that stay between two works."""

import decimal
import threading
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest

import toolhub_sdk
from core.clock import uuid7
from execution.engine.call import Call
from execution.runners import builtin
from execution.runners.hands import hand_give


def worked(work: object) -> object:
    done: SimpleQueue[object] = SimpleQueue()
    hand_give(lambda: done.put(work()))  # type: ignore[operator]
    return done.get(timeout=10)


def test_what_one_work_sets_in_its_context_the_next_does_not_see() -> None:
    before = decimal.getcontext().prec

    def narrow() -> int:
        decimal.getcontext().prec = 3
        return decimal.getcontext().prec

    assert worked(narrow) == 3
    for _ in range(20):
        assert worked(lambda: decimal.getcontext().prec) == before


def test_works_at_the_same_time_have_threads_of_their_own() -> None:
    together = threading.Barrier(3)
    done: SimpleQueue[int] = SimpleQueue()

    def meet() -> None:
        together.wait(10)
        done.put(threading.get_ident())

    for _ in range(2):
        for _ in range(3):
            hand_give(meet)
        assert len({done.get(timeout=10) for _ in range(3)}) == 3


def test_a_quick_tool_of_the_hub_works_in_the_callers_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    there: list[threading.Thread] = []
    call = toolhub_sdk.call

    def noted(*given: Any) -> Any:
        there.append(threading.current_thread())
        return call(*given)

    monkeypatch.setattr(toolhub_sdk, "call", noted)
    made = {"name": "x", "entry": "catalogue.data:echo", "declared": {}, "determinism": "deterministic"}
    version: Any = SimpleNamespace(version="1.0.0", digest="quick", definition={}, **made)
    asked = Call(
        run_id=uuid7(),
        tool="echo",
        runner="builtin",
        version=version,
        arguments={"text": "a"},
        request={},
        attempt=1,
        timeout_ms=1000,
        max_output_bytes=1000,
        inline=True,
    )
    assert builtin.RUNTIME.run(asked).data == {"text": "a"}
    version.entry = "catalogue.system:current_time"
    asked.arguments = {}
    assert builtin.RUNTIME.run(asked).status == "completed"
    assert there[0] is threading.current_thread()
    assert there[1] is not threading.current_thread()
