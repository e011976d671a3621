"""Prepared statements on PostgreSQL, handed to psycopg past Django: server-side parameters, prepared once."""

import itertools
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from django.db import connections
from psycopg import errors, pq
from psycopg.adapt import PyFormat, Transformer

Row = tuple[Any, ...]
# A statement is prepared for each combination of its values' types; a connection keeps so many.
KEPT = 64
_DONE = (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK)
_NUMBERS = itertools.count(1)
_Names = OrderedDict[tuple[str, tuple[int, ...]], bytes]
_NAMES: WeakKeyDictionary[psycopg.Connection[Any], _Names] = WeakKeyDictionary()


def statement_execute(statement: str, values: Sequence[Any]) -> list[Row]:
    """The rows of a statement with parameters $1, $2 …; it is prepared once per connection.

    On Django's connection where this thread has one (it may be in a transaction), else on one of its pool.
    A request that needs no more than these statements so spares what Django does for a connection
    of its own, 0.3 ms. Raises Django's database errors.
    """
    own: Any = connections["default"]
    with own.wrap_database_errors:
        if own.connection is None and not own.in_atomic_block and (pool := own.pool):
            pool.open()
            lent = pool.getconn()
            try:
                if not lent.autocommit:  # given back in a transaction: what is written now would be lost
                    lent.autocommit = True
                return _rows(lent, statement, values)
            finally:
                pool.putconn(lent)
        own.close_if_health_check_failed()
        own.ensure_connection()
        return _rows(own.connection, statement, values)


def row_read(statement: str, values: Sequence[Any]) -> Row | None:
    """The first row; None where there is none."""
    return next(iter(statement_execute(statement, values)), None)


def _rows(on: psycopg.Connection[Any], statement: str, values: Sequence[Any]) -> list[Row]:
    # Signals reach the main thread, which so has to wait where Python can see to them.
    if threading.current_thread() is threading.main_thread():
        cursor = psycopg.RawCursor(on).execute(statement, values, prepare=True)
        return cursor.fetchall() if cursor.description else []
    return _rows_at_once(on, statement, values)


def _rows_at_once(on: psycopg.Connection[Any], statement: str, values: Sequence[Any]) -> list[Row]:
    """By one call of libpq, which waits without Python's lock: a third of what a cursor takes."""
    exchange = Transformer.from_context(on)
    given: Any = exchange.dump_sequence(values, [PyFormat.AUTO] * len(values))
    name = _name(on, statement, exchange.types or ())
    result = _checked(on, on.pgconn.exec_prepared(name, given, exchange.formats))
    exchange.set_pgresult(result)
    return exchange.load_rows(0, result.ntuples, tuple)


def _name(on: psycopg.Connection[Any], statement: str, types: tuple[int, ...]) -> bytes:
    """The name by which the server knows the statement; prepares it where it does not."""
    names = _NAMES.setdefault(on, OrderedDict())
    key = statement, types
    if key in names:
        names.move_to_end(key)
        return names[key]
    name = b"hub_%d" % next(_NUMBERS)
    _checked(on, on.pgconn.prepare(name, statement.encode(), types))
    names[key] = name
    if len(names) > KEPT:
        _, oldest = names.popitem(last=False)
        _checked(on, on.pgconn.exec_(b"DEALLOCATE " + oldest))
    return name


def _checked(on: psycopg.Connection[Any], result: Any) -> Any:
    """The result of what worked. Raises psycopg's error for what did not."""
    if result.status in _DONE:
        return result
    if on.pgconn.status != pq.ConnStatus.OK:
        raise psycopg.OperationalError(on.pgconn.get_error_message())
    raise errors.error_from_result(result)
