"""The triggers: an outcome never changes, but for a payload that expires, on both databases."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from execution.models import Run, Status

pytestmark = pytest.mark.django_db
MakeRun = Callable[..., Run]


def triggers() -> set[str]:
    """The triggers that guard the table of runs, as the database itself lists them."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT tgname FROM pg_trigger WHERE tgrelid = 'execution_run'::regclass "
                "AND NOT tgisinternal AND tgname LIKE 'execution_run_guard%'"
            )
        else:
            cursor.execute(
                "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'execution_run'"
            )
        return {row[0] for row in cursor.fetchall()}


def test_the_triggers_are_there_after_all_migrations() -> None:
    expected = {
        "postgresql": {"execution_run_guard"},
        "sqlite": {f"execution_run_guard_{what}" for what in ("insert", "outcome", "status")},
    }
    assert triggers() == expected[connection.vendor]


def test_no_other_run_is_put_in_the_place_of_one(make_run: MakeRun) -> None:
    """SQLite's INSERT OR REPLACE; PostgreSQL has nothing like it."""
    run = make_run(status=Status.COMPLETED, result=1)
    if connection.vendor != "sqlite":
        return
    columns = ", ".join(f'"{field.column}"' for field in Run._meta.concrete_fields if field.name != "result")
    copied = f"SELECT {columns}, '2' FROM execution_run"
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"INSERT OR REPLACE INTO execution_run ({columns}, result) {copied}")
    assert Run.objects.get().result == run.result == 1


@pytest.fixture
def ended(make_run: MakeRun) -> Run:
    return make_run(status=Status.COMPLETED, result={"a": 1}, result_hash=bytes(32))


def refused(run: Run, **changes: Any) -> bool:
    """Whether the database itself refuses an update."""
    try:
        with transaction.atomic():
            Run.objects.filter(pk=run.pk).update(**changes)
    except DatabaseError:
        return True
    return False


@pytest.mark.parametrize(
    "changes",
    [
        {"result": None},
        {"result": {"a": 2}},
        {"result_hash": b"1" * 32},
        {"error": {"code": "X"}},
        {"status": Status.FAILED},
        {"status": Status.PENDING},
        {"completed_at": None},
        {"outcome_leaf": b"1" * 32},
        {"payload_expired_at": "now", "result": {"a": 2}},
        {"payload_expired_at": "now", "result": None, "result_hash": None},
        {"payload_expired_at": "now", "result": None, "status": Status.FAILED},
    ],
    ids=str,
)
def test_an_outcome_cannot_be_changed(ended: Run, changes: dict[str, Any]) -> None:
    if "payload_expired_at" in changes:
        changes = {**changes, "payload_expired_at": timezone.now()}
    assert refused(ended, **changes)


def test_a_result_may_go_when_its_payload_is_marked_as_expired_and_stays_so(ended: Run) -> None:
    now = timezone.now()
    assert not refused(ended, payload_expired_at=now, result=None)
    assert refused(ended, payload_expired_at=None)
    assert refused(ended, result={"a": 1})
    assert refused(ended, payload_expired_at=None, result={"a": 1})
    assert Run.objects.get(pk=ended.pk).result is None


def test_a_run_that_is_not_over_may_be_written(make_run: MakeRun) -> None:
    run = make_run(status=Status.RUNNING, attempt=1)
    assert not refused(run, status=Status.COMPLETED, result={"a": 1})
    assert refused(run, status=Status.FAILED)
