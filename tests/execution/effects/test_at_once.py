"""Runs that change the same memory at once: no change is lost, and nobody waits for ever."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.db.models.functions import Now

from execution.models import Run, Status
from execution.runs.worker import queue_work
from tests.execution.effects.conftest import memory, notice, remembered, state
from tests.execution.fixtures import Declare

pytestmark = pytest.mark.django_db(transaction=True)
RUNS, WORKERS = 24, 4


def test_no_change_is_lost(call: Callable[..., Any], declare: Declare, settings: Any) -> None:
    settings.SESSION_RUNS_MAX = 0
    declare(
        "fx_echo",
        effects=[
            state("n", "increment"),
            memory("list", "update", "long-term", expression="(current == null ? [] : current) + [result]"),
            notice("done", expression="result"),
        ],
    )
    for number in range(RUNS):
        # Half of them of another session: only long-term memory is shared.
        body = {"arguments": {"value": number}, "context": {"session_id": f"s{number % 2}"}}
        assert call("fx_echo", body=body, HTTP_PREFER="respond-async").status_code == 202
    Run.objects.update(due_at=Now() - timedelta(seconds=1))

    def work(_number: int) -> int:
        try:
            return queue_work("default")
        finally:
            connections.close_all()

    with ThreadPoolExecutor(WORKERS) as pool:
        assert sum(pool.map(work, range(WORKERS))) == RUNS
    assert set(Run.objects.values_list("status", flat=True)) == {Status.COMPLETED}
    kept = remembered()
    assert sorted(kept["long-term list"]) == list(range(RUNS))
    assert kept["working n"] == RUNS // 2
