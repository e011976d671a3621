"""The table of states: what is in it works, and everything else is refused, by the code and by the database."""

import itertools
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from execution.engine.states import FINAL, TABLE, Move, transition
from execution.models import Run, Status
from tests.execution.fixtures import MakeRun

pytestmark = pytest.mark.django_db
# From docs, by hand: from → to, whoever makes the move.
MOVES = {
    "awaiting_approval": {"pending", "cancelled"},
    "pending": {"running", "cancelled", "failed", "timeout"},
    "running": {
        "completed",
        "failed",
        "timeout",
        "cancelled",
        "waiting_retry",
        "waiting_steps",
        "awaiting_person",
        "pending",
        "outcome_unknown",
    },
    "waiting_retry": {"pending", "cancelled"},
    "waiting_steps": {"pending", "completed", "failed", "timeout", "cancelled"},
    "awaiting_person": {"completed", "failed", "cancelled"},
    "outcome_unknown": {"completed", "failed"},
    "completed": set(),
    "failed": set(),
    "timeout": set(),
    "cancelled": set(),
}
PAIRS = [(a, b) for a, b in itertools.product(Status, Status) if a != b]
OTHERS = [(a, b) for a, b in PAIRS if b not in MOVES[a]]


def raw_update(run: Run, column: str, value: Any) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE execution_run SET {column} = %s WHERE id = %s",
            [value, run.pk.hex if connection.vendor == "sqlite" else run.pk],
        )
        assert cursor.rowcount == 1


def test_the_table_is_that_of_the_docs() -> None:
    assert {(move.source, move.target) for move in TABLE} == {(a, b) for a, to in MOVES.items() for b in to}
    assert set(FINAL) == {status for status, to in MOVES.items() if not to}


@pytest.mark.parametrize("move", TABLE, ids=lambda m: f"{m.source}-{m.target}-{m.who}")
def test_an_allowed_move_works_once(make_run: MakeRun, move: Move) -> None:
    run = make_run(status=move.source)
    rows = Run.objects.filter(pk=run.pk)
    assert transition(rows, source=move.source, target=move.target, who=move.who, duration_ms=1.0) == 1
    run.refresh_from_db()
    assert (run.status, run.duration_ms) == (move.target, 1.0)
    assert transition(rows, source=move.source, target=move.target, who=move.who) == 0


@pytest.mark.parametrize("who", sorted({move.who for move in TABLE}))
def test_whoever_makes_a_move_may_make_no_other(make_run: MakeRun, who: str) -> None:
    own = {(move.source, move.target) for move in TABLE if move.who == who}
    run = make_run()
    for source, target in itertools.product(Status, Status):
        if (source, target) not in own:
            with pytest.raises(ValueError, match="may not move"):
                transition(Run.objects.all(), source=source, target=target, who=who)
    run.refresh_from_db()
    assert run.status == Status.PENDING


def test_who_is_not_in_the_table_may_move_nothing(make_run: MakeRun) -> None:
    make_run()
    with pytest.raises(ValueError, match="may not move"):
        transition(Run.objects.all(), source=Status.PENDING, target=Status.RUNNING, who="anybody")


def test_a_run_in_another_state_is_left_alone(make_run: MakeRun) -> None:
    run = make_run(status=Status.CANCELLED)
    assert transition(Run.objects.all(), source=Status.PENDING, target=Status.RUNNING, who="claim") == 0
    run.refresh_from_db()
    assert run.status == Status.CANCELLED


def test_the_database_refuses_every_other_move(make_run: MakeRun) -> None:
    for source, target in OTHERS:
        run = make_run(status=source)
        with pytest.raises(DatabaseError):
            raw_update(run, "status", target.value)
        run.refresh_from_db()
        assert run.status == source


def test_the_database_lets_every_move_of_the_table_pass(make_run: MakeRun) -> None:
    for source, target in {(move.source, move.target) for move in TABLE}:
        run = make_run(status=source)
        raw_update(run, "status", target.value)
        run.refresh_from_db()
        assert run.status == target


@pytest.mark.parametrize("status", sorted(FINAL))
@pytest.mark.parametrize("column", ["result", "result_hash", "error", "completed_at", "outcome_leaf"])
@pytest.mark.parametrize("erase", [False, True])
def test_an_outcome_cannot_be_changed_by_raw_sql(
    make_run: MakeRun, status: Status, column: str, erase: bool
) -> None:
    kept: dict[str, Any] = {
        "result": {"a": 1},
        "result_hash": b"h" * 32,
        "error": {"code": "X"},
        "completed_at": timezone.now(),
        "outcome_leaf": b"l" * 32,
    }
    forged = {
        "result": '{"a":2}',
        "result_hash": b"x" * 32,
        "error": '{"code":"Y"}',
        "completed_at": "2026-01-01 00:00:00+00:00",
        "outcome_leaf": b"x" * 32,
    }
    run = make_run(status=status, **kept)
    with pytest.raises(DatabaseError):
        raw_update(run, column, None if erase else forged[column])
    run.refresh_from_db()
    value = getattr(run, column)
    assert (bytes(value) if isinstance(value, memoryview) else value) == kept[column]


def test_what_is_no_outcome_can_still_be_noted_on_a_finished_run(make_run: MakeRun) -> None:
    run = make_run(status=Status.COMPLETED)
    assert Run.objects.filter(pk=run.pk).update(events_count=9) == 1


def test_bulk_updates_of_the_orm_cannot_pass_by(make_run: MakeRun) -> None:
    make_run(status=Status.COMPLETED)
    with pytest.raises(DatabaseError), transaction.atomic():
        Run.objects.update(status=Status.PENDING)
    assert Run.objects.get().status == Status.COMPLETED
