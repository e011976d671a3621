"""Runs that change the same memory at once: no change is lost, and nobody waits for ever."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.db.models.functions import Now

from execution.engine.perform import queue_work
from execution.features.effects import feature
from execution.models import Run, Status
from security.models import Persona, User
from security.policy.limits import limit_create
from security.policy.models import Usage
from tests.execution.effects.conftest import cascade, memory, notice, remembered, state
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


WRAP, BIG = cascade("fx_wrap", arguments={"value": "'x'"}), cascade("fx_big", arguments={"size": "1"})


@pytest.mark.parametrize(
    ("one", "other"),
    [([WRAP, BIG], [BIG, WRAP]), ([WRAP, BIG, notice("done")], [state("n", "increment"), WRAP, BIG])],
)
@pytest.mark.parametrize("counted", [False, True])
def test_runs_whose_effects_need_the_same_rows_crosswise_do_not_stop_each_other(
    call: Callable[..., Any],
    declare: Declare,
    admin: User,
    persona: Persona,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    one: list[dict[str, Any]],
    other: list[dict[str, Any]],
    counted: bool,
    settings: Any,
) -> None:
    settings.SESSION_RUNS_MAX = 0
    for tool in ("fx_wrap", "fx_big"):
        limit_create(by=admin, kind="quota", measure="calls", amount=99, window_s=86_400, tool=tool)
    declare("fx_echo", effects=one)
    declare("fx_context", effects=other)
    if counted:  # the rows are there already
        assert call("fx_wrap", {"value": "x"}).status_code == 200
        assert call("fx_big", {"size": 1}).status_code == 200
    submit = feature.child_submit

    def slowly(child: Any) -> Run:
        run = submit(child)
        time.sleep(0.3)
        return run

    monkeypatch.setattr(feature, "child_submit", slowly)

    def perform(tool: str) -> int:
        try:
            return int(call(tool, {"value": 1} if tool == "fx_echo" else {}).status_code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(perform, ["fx_echo", "fx_context"])) == [200, 200]
    assert "waits for the database" not in caplog.text
    assert set(Usage.objects.values_list("used", flat=True)) == {3 if counted else 2}
    assert Run.objects.filter(depth=1).count() == 4
