"""Prepared statements on PostgreSQL, handed to psycopg past Django: server-side parameters, prepared once."""

from collections.abc import Sequence
from typing import Any

import psycopg
from django.db import connections


def statement_execute(statement: str, values: Sequence[Any]) -> psycopg.Cursor[Any]:
    """Executes a statement that is prepared once per connection.

    On Django's connection where this thread has one (it may be in a transaction), else on one of its pool.
    A request that needs no more than these statements so spares what Django does for a connection
    of its own, 0.3 ms.
    """
    own: Any = connections["default"]
    with own.wrap_database_errors:
        if own.connection is None and not own.in_atomic_block and (pool := own.pool):
            pool.open()
            lent = pool.getconn()
            try:
                if not lent.autocommit:  # given back in a transaction: what is written now would be lost
                    lent.autocommit = True
                return _prepared(lent, statement, values)
            finally:
                pool.putconn(lent)
        own.close_if_health_check_failed()
        own.ensure_connection()
        return _prepared(own.connection, statement, values)


def _prepared(on: psycopg.Connection[Any], statement: str, values: Sequence[Any]) -> psycopg.Cursor[Any]:
    # With $1, $2 … in the statement psycopg has nothing to rewrite: it took 1.3 ms for 79 values.
    return psycopg.RawCursor(on).execute(statement, values, prepare=True)
