"""The bench's own PostgreSQL database, and the count of what the calls left behind."""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

DEFAULT = "postgres://127.0.0.1:5432/postgres"
FINAL = "('completed', 'failed', 'timeout', 'cancelled')"
Number = Callable[[str], int]


@dataclass(frozen=True)
class Database:
    """An address for the hub, or why there is none; `wal_bytes` is the log's position in bytes."""

    url: str | None
    missing: str = ""

    def number(self, query: str) -> int:
        """The one whole number that a query gives."""
        with psycopg.connect(_libpq(str(self.url)), autocommit=True) as connection:
            row = connection.execute(query.encode()).fetchone()
        return int(row[0]) if row else 0

    def words(self, query: str) -> list[str]:
        """The first column that a query gives."""
        with psycopg.connect(_libpq(str(self.url)), autocommit=True) as connection:
            return [str(row[0]) for row in connection.execute(query.encode())]

    def execute(self, statement: str) -> None:
        """Carries a statement out by itself."""
        with psycopg.connect(_libpq(str(self.url)), autocommit=True) as connection:
            connection.execute(statement.encode())

    def durability(self) -> dict[str, str]:
        """The server's version, and the settings that say what a commit outlives."""
        rows = self.words(
            "SELECT name || ' ' || setting FROM pg_settings WHERE name IN ('server_version', 'fsync',"
            " 'synchronous_commit', 'full_page_writes', 'wal_level', 'wal_sync_method', 'commit_delay')"
            " ORDER BY name <> 'server_version', name"
        )
        return dict(row.split(" ", 1) for row in rows)

    def wal_bytes(self) -> int:
        """How much write-ahead log the server has written."""
        return self.number("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn")


def _libpq(url: str, name: str | None = None) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(scheme="postgresql", path=f"/{name}" if name else parts.path))


@contextlib.contextmanager
def own_database(purpose: str = "hub") -> Iterator[Database]:
    """A fresh database on TOOLHUB_BENCH_DATABASE_URL, else 127.0.0.1:5432 as the environment's role.

    Dropped at the end. Without a server, or the right to make one, `url` is None and `missing` says why.
    """
    address = os.environ.get("TOOLHUB_BENCH_DATABASE_URL", DEFAULT)
    name = f"toolhub_bench_{purpose}_{os.getpid()}"
    # The server's own database, to make another from; the address may name one that does not exist.
    server = _libpq(address, "postgres")
    try:
        with psycopg.connect(server, connect_timeout=3, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    except psycopg.Error as error:
        yield Database(None, (str(error).strip().splitlines() or [type(error).__name__])[0])
        return
    try:
        yield Database(urlunsplit(urlsplit(address)._replace(path=f"/{name}")))
    finally:
        with psycopg.connect(server, connect_timeout=3, autocommit=True) as connection:
            connection.execute(
                sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
            )


@dataclass(frozen=True)
class Kept:
    """What the calls left: runs with an outcome, attempts, ledger events about runs."""

    runs: int
    attempts: int
    accepted: int
    outcomes: int
    with_one_outcome: int

    def faults(self, calls: int) -> list[str]:
        """A sentence for each count that is not what `calls` answered calls must leave."""
        wanted = {
            "runs with an outcome": self.runs,
            "attempts": self.attempts,
            "ledger events run.accepted": self.accepted,
            "ledger events run.outcome": self.outcomes,
            "runs with exactly one outcome in the ledger": self.with_one_outcome,
        }
        return [
            f"{calls} calls were answered 200, but there are {count} {name}."
            for name, count in wanted.items()
            if count != calls
        ]


def kept(number: Number) -> Kept:
    """Counts the hub's rows; `number` asks a query that SQLite and PostgreSQL both understand."""
    events = "SELECT count(*) FROM audit_event WHERE kind = "
    once = "SELECT run_id FROM audit_event WHERE kind = 'run.outcome' GROUP BY run_id HAVING count(*) = 1"
    return Kept(
        number(f"SELECT count(*) FROM execution_run WHERE status IN {FINAL}"),
        # A run that was over when it was accepted has its one attempt in its own row.
        number("SELECT count(*) FROM execution_attempt")
        + number("SELECT count(*) FROM execution_run WHERE is_brief"),
        number(f"{events}'run.accepted'"),
        number(f"{events}'run.outcome'"),
        number(f"SELECT count(*) FROM execution_run WHERE id IN ({once})"),
    )


def sqlite_number(file: Path) -> Number:
    """Asks a SQLite file, as `Database.number` asks PostgreSQL."""

    def number(query: str) -> int:
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=20)) as connection:
            return int(connection.execute(query).fetchone()[0])

    return number
