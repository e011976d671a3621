"""Finishing: the outcome is written once, under the lease, with its event and its entry in the ledger."""

import json
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError

from audit.models import Event
from execution.engine.finish import run_finish
from execution.engine.lease import Lease
from execution.engine.outcomes import Outcome, failure, success
from execution.engine.perform import queue_work
from execution.models import Attempt, Run, RunEvent, Status
from execution.runners import perform
from tests.execution.fixtures import MakeRun, reap

pytestmark = pytest.mark.django_db
Leased = Callable[..., Lease]
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def done(data: Any = 7) -> Outcome:
    return success(data, started_at=NOW, ended_at=NOW, duration_ms=1.5)


def everything() -> list[Any]:
    models = (Attempt, Event)
    rows: list[Any] = [list(model.objects.order_by("pk").values()) for model in models]  # type: ignore[attr-defined]
    return [
        *rows,
        list(Run.objects.values("status", "result", "error", "completed_at", "outcome_leaf", "attempt")),
    ]


def kinds() -> list[str]:
    return list(RunEvent.objects.order_by("seq").values_list("kind", flat=True))


def test_an_outcome_is_written_with_its_event_and_its_entry(leased: Leased) -> None:
    lease = leased()
    assert run_finish(lease, done()) is True
    run = Run.objects.get()
    assert (run.status, run.result, run.duration_ms) == (Status.COMPLETED, 7, 1.5)
    assert kinds() == ["TOOL_CALL_COMPLETED"]
    event = Event.objects.get(kind="run.outcome")
    assert bytes(run.outcome_leaf or b"") == bytes(event.leaf)
    assert json.loads(event.canonical)["data"]["status"] == "completed"
    attempt = Attempt.objects.get()
    assert (attempt.status, attempt.finished_at, attempt.error_code) == ("completed", NOW, "")


def test_a_second_finish_is_an_event_and_nothing_else(leased: Leased) -> None:
    lease = leased()
    run_finish(lease, done(1))
    before = everything()
    assert run_finish(lease, done(2)) is False
    assert everything() == before
    assert kinds() == ["TOOL_CALL_COMPLETED", "LATE_RESULT"]


def test_a_foreign_lease_writes_nothing_but_a_late_result(leased: Leased) -> None:
    lease = leased()
    before = everything()
    assert run_finish(Lease(lease.run, uuid.uuid4(), 1), done()) is False
    assert everything() == before
    assert kinds() == ["LATE_RESULT"]
    assert RunEvent.objects.get().data == {"attempt": 1, "status": "completed"}


def test_a_late_finish_of_the_last_lease_resolves_an_unknown_outcome(leased: Leased) -> None:
    """Faults 10: a worker that was stopped for longer than its lease, and went on."""
    lease = leased("fx_count")
    reap()
    assert Run.objects.get().status == Status.OUTCOME_UNKNOWN
    assert run_finish(lease, done({"attempt": 1})) is True
    run = Run.objects.get()
    assert (run.status, run.result) == (Status.COMPLETED, {"attempt": 1})
    assert Event.objects.filter(kind="run.outcome").count() == 1


def test_a_late_failure_resolves_it_as_well(leased: Leased) -> None:
    lease = leased("fx_count")
    reap()
    assert run_finish(lease, failure("EXECUTION_FAILED", "m", at=NOW)) is True
    assert Run.objects.get().status == Status.FAILED


def test_a_late_timeout_resolves_nothing(leased: Leased) -> None:
    lease = leased("fx_count")
    reap()
    assert run_finish(lease, failure("TIMEOUT", "m", at=NOW, status=Status.TIMEOUT)) is False
    assert Run.objects.get().status == Status.OUTCOME_UNKNOWN


def test_a_late_finish_does_not_touch_a_run_that_was_given_to_another(leased: Leased) -> None:
    lease = leased("fx_echo")
    reap()
    assert run_finish(lease, done(99)) is False
    run = Run.objects.get()
    assert (run.status, run.result) == (Status.PENDING, None)
    assert Attempt.objects.get(number=1).status == "lost"
    Run.objects.update(due_at=NOW)
    assert queue_work("default") == 1
    assert run_finish(lease, done(99)) is False
    run.refresh_from_db()
    assert (run.status, run.result, run.attempt) == (Status.COMPLETED, 1, 2)
    assert Attempt.objects.get(number=1).status == "lost"


def test_an_unknown_outcome_is_not_resolved_where_a_newer_attempt_exists(leased: Leased) -> None:
    old = leased("fx_count", attempt=1)
    token = uuid.uuid4()
    Run.objects.update(attempt=2, lease_token=token)
    Attempt.objects.create(
        run=old.run, number=2, lease_token=token, worker="w", claimed_at=NOW, started_at=NOW
    )
    reap()
    assert Run.objects.get().status == Status.OUTCOME_UNKNOWN
    assert run_finish(old, done()) is False
    assert Run.objects.get().status == Status.OUTCOME_UNKNOWN


def test_what_a_call_is_given_waits_for_the_database(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That the database was away for a moment is no mistake of a runner's, nor the end of the run."""
    make_run(events_count=1)
    away = [OperationalError("the server has gone"), OperationalError("the server is starting")]
    real = perform.equip

    def gone(call: Any) -> Any:
        if away:
            raise away.pop()
        return real(call)

    monkeypatch.setattr(perform, "equip", gone)
    monkeypatch.setattr(perform, "AGAIN_S", 0.0)
    monkeypatch.setattr(perform, "connection", SimpleNamespace(in_atomic_block=False))
    monkeypatch.setattr(perform, "close_old_connections", lambda: None)
    assert queue_work("default") == 1
    assert (Run.objects.get().status, away) == (Status.COMPLETED, [])
