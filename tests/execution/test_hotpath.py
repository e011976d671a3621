"""The short way's statements and the ORM write the same rows, column by column."""

import copy
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import (
    DatabaseError,
    DataError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    connection,
    connections,
    models,
    transaction,
)
from django.utils import timezone
from psycopg import errors

from core.clock import uuid7
from execution.engine import accept
from execution.engine.store import known, rights
from execution.engine.store.statements import KEPT, row_read, statement_execute
from registry.models import Package, ToolVersion
from security.models import Persona
from tests.execution.fixtures import is_postgres

pytestmark = pytest.mark.django_db
Call = Callable[..., Any]
Groups = Sequence[Sequence[models.Model]]
Written = dict[str, list[dict[str, Any]]]

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("fx_echo", {"arguments": {"value": {"b": [1.0, 1e16, "é\u2028😀"], "a": None}}}),
    ("fx_echo", {"arguments": {"value": "long " * 5000}, "context_data": {"k": [None, True]}}),
    (
        "fx_boom",
        {"arguments": {}, "context": {"session_id": "s"}, "limits": {"timeoutMs": 900_000}},
    ),
    ("fx_refuse", {"arguments": {"details": {"x": [1, 2.5]}}}),
]


class Undo(Exception):
    """Takes a transaction back."""


def written(groups: Groups, write: Callable[[Groups], None]) -> Written:
    """What the database holds after the rows were written, read without the ORM; then they are gone again."""
    found: Written = {}
    try:
        with transaction.atomic():
            write(groups)
            for group in groups:
                found[group[0]._meta.db_table] = list(_read(type(group[0]), len(group)))
            raise Undo
    except Undo:
        return found


def _read(model: type[models.Model], count: int) -> Sequence[dict[str, Any]]:
    table = model._meta.db_table
    with connection.cursor() as cursor:
        # Keys that the database counts differ by nature; uuids do not.
        cursor.execute(f'SELECT * FROM "{table}" ORDER BY id DESC LIMIT {count}')
        names = [column[0] for column in cursor.description]
        counted = isinstance(model._meta.pk, models.AutoField)
        return [
            {
                name: _plain(value)
                for name, value in zip(names, row, strict=True)
                if not (counted and name == "id")
            }
            for row in cursor.fetchall()
        ]


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview) else value


def save_each(groups: Groups) -> None:
    for row in (row for group in groups for row in group):
        row.save(force_insert=True)


@pytest.mark.parametrize(("tool", "body"), CALLS)
@pytest.mark.parametrize("key", [None, "a key"])
def test_the_short_way_writes_what_the_orm_would(
    call: Call,
    fx: Package,
    monkeypatch: pytest.MonkeyPatch,
    tool: str,
    body: dict[str, Any],
    key: str | None,
) -> None:
    kept: list[list[list[models.Model]]] = []
    write = accept.rows_write

    def observed(*groups: Sequence[models.Model], **more: Any) -> bool:
        kept.append([copy.deepcopy(list(group)) for group in groups if group])
        return write(*groups, **more)

    monkeypatch.setattr(accept, "rows_write", observed)
    headers = {"HTTP_IDEMPOTENCY_KEY": key} if key else {}
    assert call(tool, body=body, **headers).status_code == 200
    (groups,) = kept
    assert len(groups) == (3 if key else 2)
    for model in reversed([type(group[0]) for group in groups]):
        if model._meta.app_label == "execution":
            model._default_manager.all().delete()  # the ledger keeps what it has; only the newest are read
    short = written(copy.deepcopy(groups), lambda rows: write(*rows))
    assert short == written(copy.deepcopy(groups), save_each)
    assert [len(rows) for rows in short.values()] == [len(group) for group in groups]


@pytest.mark.django_db(transaction=True)
def test_a_connection_given_back_in_a_transaction_loses_no_row() -> None:
    """Django sets autocommit for itself; the pool does not when a connection comes back."""
    if settings.DATABASE_IS_SQLITE:
        assert not is_postgres()
        return
    pooled = {**connections.settings["default"]}
    pooled["NAME"] = connection.settings_dict["NAME"]
    pooled |= {"CONN_MAX_AGE": 0, "CONN_HEALTH_CHECKS": False}
    pooled["OPTIONS"] = {"pool": {"min_size": 1, "max_size": 1, "timeout": 10}, "prepare_threshold": 10**9}
    kept = connections["default"]
    own = connections["default"] = connections["default"].__class__(pooled, "default")
    # The pool is kept by alias for the whole process.
    own._connection_pools = {}
    try:
        own.ensure_connection()
        own.set_autocommit(False)
        own.close()
        statement_execute("CREATE TABLE hotpath_kept (seq int)", ())
        statement_execute("INSERT INTO hotpath_kept VALUES (7)", ())
        assert statement_execute("SELECT seq FROM hotpath_kept", ()) == [(7,)]
        statement_execute("DROP TABLE hotpath_kept", ())
    finally:
        own.close_pool()
        connections["default"] = kept


@pytest.mark.django_db(transaction=True)
def test_statements_give_the_rows_and_errors_that_a_cursor_gives() -> None:
    if not is_postgres():
        pytest.skip("SQLite is served by the ORM")
    asked: list[tuple[str, Sequence[Any]]] = [
        ("SELECT $1::text, $2::bytea, $3::timestamptz, $4::uuid", ("é\n", b"\0x", timezone.now(), uuid7())),
        ("SELECT n, n > 1, n / 2.0 FROM generate_series(1, $1) n", (3,)),
        ("SELECT length($1::text)", ("long " * 1_000_000,)),
        ("SELECT $1::int WHERE false", (1,)),
        ("SELECT 1 / $1::int", (0,)),
        ("SELECT $1::int", ("none",)),
        ("SELECT nothing", ()),
    ]
    # Many values' types: the oldest of what was prepared makes room, and is prepared again.
    asked += [(f"SELECT {n} + $1::bigint", (10**k,)) for n in range(KEPT) for k in (1, 9)]
    asked += asked[:2]
    connection.ensure_connection()

    def by_cursor(statement: str, values: Sequence[Any]) -> Any:
        with connection.wrap_database_errors:
            return psycopg.RawCursor(connection.connection).execute(statement, values).fetchall()

    def answer(ask: Callable[[str, Sequence[Any]], Any], one: tuple[str, Sequence[Any]]) -> Any:
        try:
            return ask(*one)
        except DatabaseError as error:
            return type(error), type(error.__cause__)

    expected = [answer(by_cursor, one) for one in asked]
    assert [answer(statement_execute, one) for one in asked] == expected
    assert {one for one in expected if isinstance(one, tuple)} == {
        (DataError, errors.DivisionByZero),
        (DataError, errors.InvalidTextRepresentation),
        (ProgrammingError, errors.UndefinedColumn),
    }


@pytest.mark.django_db(transaction=True)
def test_a_transaction_begins_with_its_first_statement() -> None:
    if not is_postgres():
        pytest.skip("SQLite is served by the ORM")
    statement_execute("CREATE TABLE hotpath_kept (seq int)", ())
    try:
        with transaction.atomic():
            statement_execute("INSERT INTO hotpath_kept VALUES (7)", ())
            transaction.set_rollback(True)
        assert statement_execute("SELECT seq FROM hotpath_kept", ()) == []
    finally:
        statement_execute("DROP TABLE hotpath_kept", ())


@pytest.mark.django_db(transaction=True)
def test_what_was_prepared_before_a_migration_is_prepared_anew() -> None:
    if not is_postgres():
        pytest.skip("SQLite is served by the ORM")

    def asked() -> list[Any]:
        return statement_execute("SELECT seq FROM hotpath_kept", ())

    def changed(statement: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(statement)

    changed("CREATE TABLE hotpath_kept AS SELECT 7 AS seq")
    try:
        assert asked() == [(7,)]
        changed("ALTER TABLE hotpath_kept ALTER seq TYPE bigint")
        assert asked() == [(7,)]
        changed("ALTER TABLE hotpath_kept ALTER seq TYPE text")
        with pytest.raises(NotSupportedError), transaction.atomic():
            asked()
        assert asked() == [("7",)]
        changed("DEALLOCATE ALL")
        assert asked() == [("7",)]
        with pytest.raises(NotSupportedError):  # what is so whenever it is asked is said
            statement_execute("SELECT date_part('isoyear', $1::interval)", ("1 day",))
    finally:
        changed("DROP TABLE hotpath_kept")


@pytest.mark.django_db(transaction=True)
def test_a_thread_whose_server_ended_the_session_says_so_and_goes_on() -> None:
    if not is_postgres():
        pytest.skip("SQLite is served by the ORM")

    def told() -> list[Any]:
        (pid,) = row_read("SELECT pg_backend_pid()", ()) or (0,)
        with connections["default"].cursor() as cursor:
            cursor.execute("SELECT 1")
        return [pid]

    def lost(pid: int) -> Any:
        try:
            statement_execute("SELECT 1", ())
        except OperationalError:
            connections.close_all()
            return statement_execute("SELECT 2", ())
        return None

    with ThreadPoolExecutor(1) as pool:
        (pid,) = pool.submit(told).result()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
        assert pool.submit(lost, pid).result() == [(2,)]
        pool.submit(connections.close_all).result()


@pytest.mark.django_db
def test_another_version_under_the_same_key_is_read_anew(fx: Package, persona: Persona) -> None:
    """As after a restore of the database, where a key that was given comes again."""
    if not is_postgres():
        pytest.skip("SQLite is served by the ORM")
    version = ToolVersion.objects.get(tool__name="fx_echo")
    held = (version.pk, version.digest, version.state, version.state_reason)
    assert known.version_kept(*held).entry == version.entry
    ToolVersion.objects.filter(pk=version.pk).update(digest="0" * 64, entry="another:one")
    again = rights.rights_of(persona.pk, "fx_echo", None, alone=True)
    assert again is not None
    assert again.active is not None
    assert known.version_kept(*again.active).entry == "another:one"
