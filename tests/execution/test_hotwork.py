"""The worker's prepared statements and the ORM's steps leave the same rows behind; and how few they are."""

import dataclasses
import functools
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from audit.models import Event
from execution.engine import finish
from execution.engine.begin import begin_next
from execution.engine.entries import outcome_entry
from execution.engine.events import event_add, events_digest
from execution.engine.finish import run_finish
from execution.engine.outcomes import success
from execution.engine.perform import queue_work, run_carry_out
from execution.engine.store import current, postgres, rights
from execution.engine.store import statements as hotstatements
from execution.models import Attempt, IdempotencyKey, Run, RunEvent, Status
from execution.side_effects import SideEffect
from registry.models import Package
from security.patterns import patterns_now
from security.services import grant_create, token_create, token_revoke
from tests.execution.fixtures import MakeRun, is_postgres, stores

Call = Callable[..., Any]
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("fx_echo", {"arguments": {"value": {"b": [1.0, 1e16, "é\u2028😀\u0000"], "a": None}}}),
    ("fx_echo", {"arguments": {"value": None}, "limits": {"timeoutMs": 900_000}}),
    ("fx_boom", {"arguments": {}, "context": {"session_id": "s"}}),
    ("fx_refuse", {"arguments": {"details": {"x": [1, 2.5]}}}),
    ("fx_big", {"arguments": {"size": 500}}),
    ("fx_capable", {"arguments": {}}),
]
TIMES = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{64}")


def left_behind(run: Run) -> dict[str, Any]:
    """All rows of a run, without what no two runs share: keys, times, hashes over times and salts."""
    rows = {
        "run": Run.objects.filter(pk=run.pk).values(),
        "attempts": Attempt.objects.filter(run=run).values(),
        "events": RunEvent.objects.filter(run=run).values(),
        "ledger": Event.objects.filter(run_id=run.pk).order_by("id").values(),
    }
    return {
        name: [{key: _alike(value) for key, value in row.items()} for row in found]
        for name, found in rows.items()
    }


def _alike(value: Any) -> Any:
    if isinstance(value, str):
        text = TIMES.sub("…", value)
        return re.sub(r'"duration_ms":[\d.]+', '"duration_ms":0', text)
    if isinstance(value, bool | int | list) or value is None:
        return value
    if isinstance(value, dict):
        return {key: _alike(one) if key != "cpu_ms" else 0 for key, one in value.items()}
    return type(value).__name__


@pytest.mark.django_db
@pytest.mark.parametrize(("tool", "body"), CALLS)
def test_they_leave_what_the_orm_would(
    call: Call,
    fx: Package,
    admin: Any,
    persona: Any,
    monkeypatch: pytest.MonkeyPatch,
    tool: str,
    body: dict[str, Any],
) -> None:
    grant_create(by=admin, persona=persona, capability="file", reason="test")
    found = []
    for store in stores():
        monkeypatch.setattr(current, "STORE", store)
        assert call(tool, body=body, HTTP_PREFER="respond-async").status_code == 202
        run = Run.objects.latest("id")
        Run.objects.filter(pk=run.pk).update(due_at="2026-01-01T00:00:00Z")
        assert queue_work("default") == 1
        found.append(left_behind(run))
    for name in found[0]:
        counted = [
            [{k: v for k, v in row.items() if k != "id" or name == "run"} for row in one[name]]
            for one in found
        ]
        assert counted[0] == counted[1]
    assert len(found[0]["events"]) == 4
    assert len(found[0]["ledger"]) == 2


@pytest.mark.django_db
@pytest.mark.parametrize("key", [None, "a key"])
def test_a_run_that_begins_here_leaves_what_several_steps_would(
    call: Call, fx: Package, monkeypatch: pytest.MonkeyPatch, tmp_path: Any, key: str | None
) -> None:
    found = []
    for number, store in enumerate(stores()):
        monkeypatch.setattr(current, "STORE", store)
        headers = {"HTTP_IDEMPOTENCY_KEY": f"{key} {number}"} if key else {}
        body = {"arguments": {"file": str(tmp_path / "f")}, "limits": {"timeoutMs": 1000}}
        answer = call("fx_count", body=body, **headers)
        assert answer.json()["success"], answer.content
        run = Run.objects.latest("id")
        assert run.inline
        found.append(left_behind(run))
        assert IdempotencyKey.objects.filter(run=run).count() == bool(key)
    for name in found[0]:
        first, second = (
            [{k: v for k, v in row.items() if k != "id" or name == "run"} for row in one[name]]
            for one in found
        )
        assert first == second, name
    assert len(found[0]["events"]) == 4
    assert len(found[0]["ledger"]) == 2


@pytest.mark.django_db(transaction=True)
def test_a_run_that_begins_here_costs_two_statements(
    call: Call, fx: Package, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """Accept with start, where the decision still holds, and finish: each a transaction of its own."""
    if not is_postgres():
        pytest.skip("SQLite is served by the ORM")
    body = {"arguments": {"file": str(tmp_path / "f")}, "limits": {"timeoutMs": 1000}}
    for _ in range(2):  # the token's use is noted, caches are filled
        assert call("fx_count", body=body).json()["success"]
    statements: list[str] = []
    execute = hotstatements._rows

    def counted(on: Any, statement: str, values: Any) -> Any:
        statements.append(statement.split(maxsplit=1)[0])
        return execute(on, statement, values)

    monkeypatch.setattr(hotstatements, "_rows", counted)
    with CaptureQueriesContext(connection) as queries:
        assert call("fx_count", body=body).json()["success"]
    assert len(statements) == 2
    assert queries.captured_queries == []


@pytest.mark.django_db
def test_what_held_the_tool_and_what_it_used_are_kept(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(UTC)
    outcome = dataclasses.replace(
        success([1], started_at=now, ended_at=now, duration_ms=1.5),
        sandbox={"level": "strict", "why": "asked"},
        resources={"memory": 1},
        warnings=("late",),
    )
    found = []
    for store in stores():
        run = make_run(events_count=1, warnings=["first"], due_at="2026-01-01T00:00:00Z")
        begun = begin_next("default")
        assert begun
        assert begun.lease
        monkeypatch.setattr(current, "STORE", store)
        assert run_finish(begun.lease, outcome)
        kept = Run.objects.get(pk=run.pk)
        found.append((kept.sandbox, kept.resources, kept.warnings, kept.result, kept.duration_ms))
    assert (
        found[0]
        == found[1]
        == ({"level": "strict", "why": "asked"}, {"memory": 1}, ["first", "late"], [1], 1.5)
    )


@pytest.mark.django_db
def test_the_ledger_commits_to_the_events_as_they_are_read_later(call: Call, fx: Package) -> None:
    call("fx_echo", {"value": 1}, HTTP_PREFER="respond-async")
    Run.objects.update(due_at="2026-01-01T00:00:00Z")
    begun = begin_next("default")
    assert begun
    assert begun.lease
    run_carry_out(begun.lease)
    run = Run.objects.get()
    written = Event.objects.get(run_id=run.pk, kind="run.outcome")
    events = list(RunEvent.objects.filter(run=run))
    from_rows = outcome_entry(run, _outcome_of(run), events_digest(events)).data["events"]
    assert f'"events":"{from_rows}"' in written.canonical


def _outcome_of(run: Run) -> Any:
    class Told:
        status, sandbox, side_effect = Status(run.status), None, SideEffect(run.side_effect)
        duration_ms, error, result_hash = run.duration_ms, run.error, bytes(run.result_hash or b"")

    return Told


@pytest.mark.django_db
def test_an_event_that_came_meanwhile_stands_under_the_commitment_too(make_run: MakeRun) -> None:
    make_run(events_count=1)
    begun = begin_next("default")
    assert begun
    assert begun.lease
    event_add(begun.lease.run.pk, "TOOL_CALL_PROGRESS", {"attempt": 1, "partial": 1})
    assert run_carry_out(begun.lease)
    run = Run.objects.get()
    assert (run.status, run.events_count) == (Status.COMPLETED, 5)
    assert [event.seq for event in RunEvent.objects.all()] == [2, 3, 4, 5]


@pytest.mark.django_db
def test_a_finish_under_another_lease_writes_nothing(make_run: MakeRun) -> None:
    make_run(events_count=1)
    begun = begin_next("default")
    assert begun
    assert begun.lease
    Run.objects.update(lease_token="01900000-0000-7000-8000-000000000000")
    assert run_carry_out(begun.lease) is False
    run = Run.objects.get()
    assert (run.status, run.result, run.outcome_leaf) == (Status.RUNNING, None, None)
    assert not Event.objects.filter(kind="run.outcome").exists()
    assert RunEvent.objects.last().kind == "LATE_RESULT"  # type: ignore[union-attr]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("tool", "at_the_end"), [("fx_echo", 2), ("fx_boom", 2), ("fx_count", 1)])
def test_a_run_costs_a_worker_three_statements_and_a_commit_or_two(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch, tmp_path: Any, tool: str, at_the_end: int
) -> None:
    """Finish, choose and begin of the next are one transaction; an impure tool's finish is one of its own.

    At the end nothing is found by that transaction, and by another.
    """
    if not is_postgres():
        pytest.skip("SQLite is served by the ORM")
    given = {
        "events_count": 1,
        "arguments": {"file": str(tmp_path / "f")} if tool == "fx_count" else {"value": 1},
    }
    make_run(tool, **given)
    assert queue_work("default") == 1  # version and rights are kept from now on
    for _ in range(5):
        make_run(tool, **given)
    patterns_now()  # which each process reads every five seconds
    statements: list[str] = []
    execute = hotstatements._rows

    def counted(on: Any, statement: str, values: Any) -> Any:
        statements.append(statement)
        return execute(on, statement, values)

    monkeypatch.setattr(hotstatements, "_rows", counted)
    with CaptureQueriesContext(connection) as queries:
        assert queue_work("default") == 5
    assert rights.RIGHTS not in statements
    assert len(statements) == 5 * 3 + at_the_end
    said = [query["sql"] for query in queries.captured_queries]
    assert said == ["BEGIN", "COMMIT"] * (1 + 5 + (at_the_end == 2))
    assert Run.objects.filter(attempt=1, completed_at__isnull=False).count() == 6


@pytest.mark.django_db(transaction=True)
def test_a_finish_stands_where_the_run_that_would_begin_with_it_may_not(
    make_run: MakeRun, admin: Any, persona: Any
) -> None:
    first = make_run(events_count=1)
    token, _ = token_create(by=admin, persona=persona, name="other")
    refused, last = make_run(events_count=1, token_id=token.pk), make_run(events_count=1)
    token_revoke(by=admin, token=token)
    assert queue_work("default") == 3
    found = [Run.objects.get(pk=run.pk) for run in (first, refused, last)]
    assert [run.status for run in found] == [Status.COMPLETED, Status.FAILED, Status.COMPLETED]
    assert (found[1].started_at, (found[1].error or {})["code"]) == (None, "PERMISSION_DENIED")
    assert Event.objects.filter(kind="run.outcome").count() == 3


@pytest.mark.django_db(transaction=True)
def test_nothing_is_carried_out_that_began_with_a_commit_that_failed(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [make_run(events_count=1) for _ in range(2)]
    monkeypatch.setattr(finish, "AGAIN_S", 0.0)
    commit, failures = connection.commit, []

    def failing() -> None:
        if Run.objects.filter(status=Status.COMPLETED).exists() and not failures:
            failures.append(1)
            raise OperationalError
        commit()

    monkeypatch.setattr(connection, "commit", failing)
    assert queue_work("default") == 2
    for run in runs:
        found = Run.objects.get(pk=run.pk)
        assert (found.status, found.attempt) == (Status.COMPLETED, 1)
    assert Event.objects.filter(kind="run.outcome").count() == 2
    assert failures == [1]


@pytest.mark.django_db(transaction=True)
def test_a_mistake_over_the_next_run_costs_no_outcome(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_postgres():
        pytest.skip("SQLite is served by the ORM")
    runs = [make_run(events_count=1) for _ in range(2)]
    mistakes: list[int] = []
    choose = current.STORE.choose

    def mistaken(queue: str) -> Any:
        if Run.objects.filter(status=Status.COMPLETED).exists() and not mistakes:
            mistakes.append(1)
            raise ValueError("a mistake")
        return choose(queue)

    monkeypatch.setattr(current.STORE, "choose", mistaken)
    assert queue_work("default") == 2
    assert mistakes == [1]
    assert [Run.objects.get(pk=run.pk).status for run in runs] == [Status.COMPLETED] * 2
    assert Event.objects.filter(kind="run.outcome").count() == 2


@pytest.mark.django_db
@pytest.mark.parametrize(
    "statement", [postgres._begin, functools.partial(postgres._finish, Status.COMPLETED)]
)
def test_a_run_is_found_by_its_key_whatever_waits(make_run: MakeRun, statement: Callable[[], str]) -> None:
    """Not by an index on states, which a plan for a small table would look through when it is large.

    What runs now (b) is few, whatever waits: a cap counts that by an index on states.
    """
    if not is_postgres():
        pytest.skip("SQLite is served by the ORM")
    make_run()
    text = statement()
    count = max(int(number) for number in re.findall(r"\$(\d+)", text))
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"PREPARE looked_at AS {text}")
        cursor.execute(f"EXPLAIN EXECUTE looked_at({', '.join(['NULL'] * count)})")
        plan = [
            line
            for (line,) in cursor.fetchall()
            if re.search(r"Scan using \w+ on execution_run\b(?! b\b)", line)
        ]
        cursor.execute("DEALLOCATE looked_at")
    assert [re.findall(r"using (\w+)", line) for line in plan] == [["execution_run_pkey"]]
