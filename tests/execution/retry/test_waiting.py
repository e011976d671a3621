"""A failed attempt is repeated after a wait on the run's row, and each attempt stands on record."""

import dataclasses
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import Client

from audit.models import Event
from execution.engine.begin import begin_next
from execution.engine.finish import run_finish
from execution.engine.outcomes import failure
from execution.engine.perform import queue_work
from execution.engine.wait import retries_due
from execution.models import Attempt, Run, RunEvent, Status
from tests.execution.fixtures import Declare, reap

pytestmark = pytest.mark.django_db
Call = Callable[..., Any]
NO_WAIT = {"type": "none"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "trace"


def lines(file: Path) -> int:
    return len(file.read_text().splitlines()) if file.exists() else 0


def work_on(rounds: int = 30) -> Run:
    """Carries the one run out to its end, as worker and steward would, without the waiting."""
    for _ in range(rounds):
        Run.objects.update(due_at=Now() - timedelta(seconds=1))
        retries_due()
        queue_work("default")
        run = Run.objects.get()
        if run.status not in {Status.PENDING, Status.WAITING_RETRY}:
            break
    return run


def test_it_waits_on_its_row_until_it_is_due(call: Call, declare: Declare, file: Path) -> None:
    declare("fx_fail", retry="STANDARD")
    call("fx_fail", {"file": str(file), "times": 1}, HTTP_PREFER="respond-async")
    Run.objects.update(due_at=Now() - timedelta(seconds=1))
    assert queue_work("default") == 1
    run = Run.objects.get()
    assert (run.status, run.lease_token, run.completed_at, run.error) == (
        Status.WAITING_RETRY,
        None,
        None,
        None,
    )
    wait = run.due_at - Attempt.objects.get().finished_at  # type: ignore[operator]
    assert 0.9 < wait.total_seconds() < 3
    assert retries_due() == 0
    assert queue_work("default") == 0
    assert not Event.objects.filter(kind="run.outcome").exists()
    run = work_on()
    assert (run.status, run.result) == (Status.COMPLETED, {"attempt": 2})
    assert lines(file) == 2
    assert list(RunEvent.objects.values_list("kind", flat=True)) == [
        "TOOL_CALL_REQUESTED",
        "RUN_CLAIMED",
        "RUN_STARTED",
        "RETRY_WAITS",
        "RUN_CLAIMED",
        "RUN_STARTED",
        "TOOL_CALL_COMPLETED",
    ]
    assert Event.objects.filter(kind="run.outcome").count() == 1


def test_the_last_error_is_the_result_and_says_that_retries_are_exhausted(
    call: Call, declare: Declare, file: Path, client: Client, token_text: str
) -> None:
    declare("fx_fail", retry={"maxRetries": 2, "backoff": {"type": "linear", "baseDelay": 5, "increment": 7}})
    call("fx_fail", {"file": str(file)}, HTTP_PREFER="respond-async")
    run = work_on()
    assert lines(file) == 3
    answer = client.get(f"/api/v1/runs/{run.pk}", HTTP_AUTHORIZATION=f"Bearer {token_text}").json()
    assert (answer["error"]["code"], answer["error"]["details"]) == (
        "TIMEOUT",
        {"reason": "MAX_RETRIES_EXCEEDED"},
    )
    assert answer["metadata"]["attempts"] == 3
    told = answer["attempts"]
    assert [one["delay_ms"] for one in told] == [5, 12, None]
    assert [one["number"] for one in told] == [1, 2, 3]
    assert {one["error"]["code"] for one in told} == {"TIMEOUT"}
    assert all(one["duration_ms"] >= 0 and one["finished_at"] for one in told)


# 6c: the contract's lists and the error's own word; how often the tool was carried out
VARIANTS: list[tuple[dict[str, Any], dict[str, Any], int]] = [
    ({"maxRetries": 2, "retryableErrors": ["NETWORK"]}, {}, 1),
    ({"maxRetries": 2, "retryableErrors": ["TIMEOUT"]}, {}, 3),
    ({"maxRetries": 2, "retryIf": "error.code != 'TIMEOUT'"}, {}, 1),
    ({"maxRetries": 2}, {"recoverable": False}, 1),
    ({"maxRetries": 0}, {}, 1),
]


@pytest.mark.parametrize(("policy", "arguments", "times"), VARIANTS)
def test_lists_condition_and_the_error_decide(
    call: Call, declare: Declare, file: Path, policy: dict[str, Any], arguments: dict[str, Any], times: int
) -> None:
    declare("fx_fail", retry=policy)
    call("fx_fail", {"file": str(file), **arguments}, HTTP_PREFER="respond-async")
    run = work_on()
    assert (run.status, lines(file)) == (Status.FAILED, times)
    exhausted = {"reason": "MAX_RETRIES_EXCEEDED"} if times == 3 else {}
    assert (run.error or {})["details"] == exhausted


@pytest.mark.parametrize(
    ("idempotent", "nothing_happened", "times"), [(False, False, 1), (False, True, 3), (True, False, 3)]
)
def test_an_impure_tool_is_repeated_only_where_that_repeats_no_effect(
    call: Call, declare: Declare, file: Path, idempotent: bool, nothing_happened: bool, times: int
) -> None:
    columns = {"is_pure": False, "is_idempotent": idempotent}
    declare("fx_fail", columns=columns, retry={"maxRetries": 2})
    arguments = {"file": str(file), "retryable": nothing_happened}
    call("fx_fail", arguments, HTTP_PREFER="respond-async")
    assert (work_on().status, lines(file)) == (Status.FAILED, times)


def test_a_call_in_the_web_process_waits_as_any_other(call: Call, declare: Declare, file: Path) -> None:
    declare("fx_fail", retry="QUICK")
    answer = call("fx_fail", {"file": str(file), "times": 1}, HTTP_PREFER="wait=1")
    assert answer.status_code in {200, 202}
    run = Run.objects.get()
    assert (run.status, run.inline) == (Status.WAITING_RETRY, False) or run.status == Status.PENDING
    assert work_on().status == Status.COMPLETED


def test_a_result_that_does_not_fit_is_not_repeated(call: Call, declare: Declare) -> None:
    declare("fx_badout", retry={"maxRetries": 3})
    call("fx_badout", {}, HTTP_PREFER="respond-async")
    run = work_on()
    assert ((run.error or {})["code"], run.attempt) == ("INVALID_OUTPUT", 1)


def test_a_wait_ends_at_once_when_it_is_cancelled(
    call: Call, declare: Declare, file: Path, post: Callable[..., Any]
) -> None:
    declare("fx_fail", retry={"maxRetries": 2, "backoff": {"type": "fixed", "delay": 30_000}})
    call("fx_fail", {"file": str(file)}, HTTP_PREFER="respond-async")
    Run.objects.update(due_at=Now() - timedelta(seconds=1))
    queue_work("default")
    run = Run.objects.get()
    assert run.status == Status.WAITING_RETRY
    assert post(run.pk, "cancel").json() == {"cancelled": True}
    run.refresh_from_db()
    assert (run.status, (run.error or {})["code"]) == (Status.CANCELLED, "CANCELLED")
    assert work_on().attempt == 1


def test_a_failure_after_a_cancel_was_asked_is_the_end(call: Call, declare: Declare, file: Path) -> None:
    declare("fx_fail", retry={"maxRetries": 2})
    call("fx_fail", {"file": str(file)}, HTTP_PREFER="respond-async")
    Run.objects.update(due_at=Now() - timedelta(seconds=1))
    begun = begin_next("default")
    assert begun
    assert begun.lease
    Run.objects.update(cancel_asked_at=Now())
    assert run_finish(begun.lease, failure("TIMEOUT", "m", at=begun.lease.run.created_at))
    assert Run.objects.get().status == Status.FAILED


def test_what_was_told_of_an_attempt_stays_when_it_is_repeated(
    call: Call, declare: Declare, file: Path
) -> None:
    declare("fx_fail", retry={"maxRetries": 2})
    call("fx_fail", {"file": str(file)}, HTTP_PREFER="respond-async")
    Run.objects.update(due_at=Now() - timedelta(seconds=1))
    begun = begin_next("default")
    assert begun
    assert begun.lease
    failed = failure("TIMEOUT", "m", at=begun.lease.run.created_at)
    printed = ("TOOL_CALL_PRINTED", {"attempt": 1, "stream": "stderr", "text": "why"})
    assert run_finish(begun.lease, dataclasses.replace(failed, told=[printed]))
    run = Run.objects.get()
    assert run.status == Status.WAITING_RETRY
    kinds = list(run.events.order_by("seq").values_list("kind", flat=True))
    assert kinds[-2:] == ["TOOL_CALL_PRINTED", "RETRY_WAITS"]


def test_what_is_refused_before_the_start_is_not_repeated(
    call: Call, declare: Declare, file: Path, admin: Any
) -> None:
    declare("fx_fail", retry={"maxRetries": 5})
    call("fx_fail", {"file": str(file)}, HTTP_PREFER="respond-async")
    type(admin).objects.update(is_active=False)
    run = work_on()
    assert ((run.error or {})["code"], lines(file), run.attempt) == ("PERMISSION_DENIED", 0, 1)


def test_lost_workers_do_not_use_up_retries_nor_retries_lost_workers(
    call: Call, declare: Declare, file: Path
) -> None:
    declare("fx_fail", retry={"maxRetries": 5, "backoff": NO_WAIT})
    call("fx_fail", {"file": str(file), "times": 4}, HTTP_PREFER="respond-async")
    for round_ in range(4):
        Run.objects.update(due_at=Now() - timedelta(seconds=1))
        retries_due()
        begun = begin_next("default")
        assert begun
        assert begun.lease
        assert begun.lease.attempt == round_ + 1
        if round_ == 3:  # the fourth attempt's worker dies
            assert reap() == 1
        else:
            run_finish(begun.lease, failure("TIMEOUT", "m", at=begun.lease.run.created_at))
    assert Run.objects.get().status == Status.PENDING
    run = work_on()
    assert (run.status, run.attempt) == (Status.COMPLETED, 5)
    assert [one.delay_ms for one in run.attempts.all()] == [0, 0, 0, None, None]
