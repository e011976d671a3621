"""Retries, effects and child runs through the whole hub: web, steward and worker, each a process of its own."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from execution.memory.models import Item
from execution.models import Run, Status
from tests.execution.fixtures import Declare, declare
from tests.processes import Processes, wait_for

pytestmark = [pytest.mark.broker, pytest.mark.timeout(180)]
__all__ = ["declare"]
Call = Callable[..., Any]
COUNT = {"type": "state_change", "description": "Count.", "state": "n", "change": "increment"}


def test_a_caller_waits_on_through_retries_that_began_in_its_web_process(
    beside: Processes, declare: Declare, call: Call, tmp_path: Path
) -> None:
    declare("fx_fail", retry={"maxRetries": 2, "backoff": {"type": "fixed", "delay": 200}}, effects=[COUNT])
    beside.steward()
    answer = call("fx_fail", {"file": str(tmp_path / "trace"), "times": 2}, HTTP_PREFER="wait=60")
    assert answer.status_code == 200, answer.content
    told = answer.json()
    assert (told["data"], told["metadata"]["attempts"]) == ({"attempt": 3}, 3)
    workers = list(Run.objects.get().attempts.values_list("worker", flat=True))
    assert len(set(workers)) == 2  # the first in the web process, the others by the worker
    assert Item.objects.get().value == 1


def test_a_cancel_ends_a_long_wait_within_two_seconds(
    beside: Processes, declare: Declare, call: Call, client: Client, token_text: str, tmp_path: Path
) -> None:
    declare("fx_fail", retry={"maxRetries": 2, "backoff": {"type": "fixed", "delay": 30_000}})
    beside.steward()
    run_id = call("fx_fail", {"file": str(tmp_path / "f")}, HTTP_PREFER="respond-async").json()["metadata"][
        "run_id"
    ]
    wait_for(lambda: Run.objects.filter(pk=run_id, status=Status.WAITING_RETRY).exists(), 60)
    asked = time.monotonic()
    headers = {"HTTP_AUTHORIZATION": f"Bearer {token_text}"}
    cancelled = client.post(f"/api/v1/runs/{run_id}/cancel", **headers)  # type: ignore[arg-type]
    assert cancelled.json() == {"cancelled": True}
    read = client.get(f"/api/v1/runs/{run_id}?wait=30", **headers).json()  # type: ignore[arg-type]
    assert (read["metadata"]["status"], time.monotonic() - asked < 2) == ("cancelled", True)


def test_a_caller_waits_on_for_the_fallback(beside: Processes, declare: Declare, call: Call) -> None:
    declare("fx_boom", recovery={"type": "fallback", "fallbackTool": "fx_context"})
    beside.steward()
    answer = call("fx_boom", {}, HTTP_PREFER="wait=60")
    assert (answer.status_code, answer.json()["data"]["tool"]) == (200, "fx_context")
    assert answer.json()["metadata"]["recovery"]["run_id"] == str(Run.objects.get(depth=1).pk)


def test_a_cascade_is_carried_out_by_a_worker(worker: None, declare: Declare, call: Call) -> None:
    """No steward runs: the child's own bell brings it to the worker."""
    cascade = {
        "type": "cascade",
        "description": "Go on.",
        "tool": "fx_wrap",
        "arguments": {"value": "result"},
    }
    declare("fx_echo", effects=[cascade])
    assert call("fx_echo", {"value": "ab"}).json()["success"] is True
    wait_for(lambda: Run.objects.filter(parent__isnull=False, status=Status.COMPLETED).exists(), 60)
    assert Run.objects.get(parent__isnull=False).result == {"value": "ab", "length": 2}
