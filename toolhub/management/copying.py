"""Rows by PostgreSQL's COPY: columns that a row does not name have the model's defaults."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import orjson
from django.db import connection
from django.db.models import Model

Value = str | int | float | bytes | bool | None
_ESCAPED = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
FLUSH_BYTES = 1 << 20


def copied(value: Value) -> str:
    """A value as COPY's text format has it."""
    match value:
        case None:
            return "\\N"
        case bool():
            return "t" if value else "f"
        case bytes():
            return f"\\\\x{value.hex()}"
        case str():
            return value.translate(_ESCAPED)
    return str(value)


def json_text(value: Any) -> str:
    """Canonical JSON (RFC 8785) of values that have no numbers but integers and short decimals."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def rows_copy(model: type[Model], rows: Iterable[Mapping[str, Value]], constant: Mapping[str, Value]) -> int:
    """Copies rows of `column → value`, the constant ones beside them; returns how many.

    Each row has the same columns. Identities are the rows' own: `identities_raise` moves the sequence.
    """
    fields = {field.column: field for field in model._meta.concrete_fields}
    table, count, buffer = model._meta.db_table, 0, bytearray()
    iterator = iter(rows)
    first = next(iterator, None)
    if first is None:
        return 0
    kept = {**_defaults(model, set(first) | set(constant)), **constant}
    names = [*first, *kept]
    tail = "".join(f"\t{copied(value)}" for value in kept.values()) + "\n"
    quoted = ", ".join(f'"{name}"' for name in names)
    if unknown := set(names) - set(fields):
        raise ValueError(f"{table} has no columns {', '.join(sorted(unknown))}.")
    with connection.cursor() as cursor, cursor.copy(f'COPY "{table}" ({quoted}) FROM STDIN') as copy:
        for row in _with(first, iterator):
            buffer += ("\t".join(map(copied, row.values())) + tail).encode()
            count += 1
            if len(buffer) >= FLUSH_BYTES:
                copy.write(bytes(buffer))
                buffer.clear()
        copy.write(bytes(buffer))
    return count


def _with(first: Mapping[str, Value], others: Iterator[Mapping[str, Value]]) -> Iterator[Mapping[str, Value]]:
    yield first
    yield from others


def _defaults(model: type[Model], given: set[str]) -> dict[str, Value]:
    """What the model sets where a row says nothing; columns that may be null are left to the database."""
    found: dict[str, Value] = {}
    for field in model._meta.concrete_fields:
        if field.column in given or (field.null and not field.has_default()) or field.primary_key:
            continue
        value = field.get_default() if field.has_default() else ""
        found[field.column] = field.get_db_prep_save(value, connection)
    return found


def identities_raise(*models: type[Model]) -> None:
    """Sets the sequences behind what was copied."""
    with connection.cursor() as cursor:
        for model in models:
            table = model._meta.db_table
            cursor.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))"  # noqa: S608
            )


@contextmanager
def unwatched(*models: type[Model]) -> Iterator[None]:
    """Without the triggers that judge each row one by one, for a database that is nobody's yet."""
    tables = [model._meta.db_table for model in models]
    with connection.cursor() as cursor:
        # A table with references to check is not altered.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table in tables:
            cursor.execute(f'ALTER TABLE "{table}" DISABLE TRIGGER USER')
        yield
        for table in tables:
            cursor.execute(f'ALTER TABLE "{table}" ENABLE TRIGGER USER')
