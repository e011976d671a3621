"""The execute path's few prepared statements, on PostgreSQL. Everything else goes through the ORM.

One statement reads who calls, one what it may do where that changed, and one writes a run that is over.
A call that is unusual in any way
(unknown token, named version, no such tool) makes `facts_read` answer None, and the ordinary path
says what is wrong.
"""

import functools
import itertools
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from django.conf import settings
from django.db import connection, models

from core.fields import CanonicalJSONField
from execution.runs.rights import EPOCH, Who, rights_of
from execution.runs.statements import row_read, statement_execute
from registry.models import ToolVersion
from registry.selectors import ResolvedTool
from security.lineage import ENDED
from security.principals import PersonaPrincipal
from security.tokens import SHAPE, USED_EVERY, token_digest

Convert = Callable[[Any], Any]
Clock = tuple[str, str]

# Of names and columns only; every value is a parameter.
_CALLER = f"""
SELECT p.id, p.name, p.is_active, t.id, u.id, u.username, u.is_active, {EPOCH}
  FROM security_token t
  JOIN security_persona p ON p.id = t.persona_id
  JOIN security_user u ON u.id = t.responsible_id
 WHERE t.digest = $1 AND t.revoked_at IS NULL AND t.expires_at > clock_timestamp()
   AND t.last_used_at > clock_timestamp() - $2 AND NOT {ENDED}
"""  # noqa: S608


def is_served() -> bool:
    """Whether the database has this path."""
    return not settings.DATABASE_IS_SQLITE


@functools.lru_cache(maxsize=4096)
def version_kept(version_id: int, state: str, reason: str) -> ToolVersion:
    """A tool version with tool and package. Immutable but for its state, which is part of the key."""
    row = ToolVersion.objects.select_related("tool__package").get(pk=version_id)
    row.state, row.state_reason = state, reason
    return row


def facts_read(token_text: str, name: str) -> tuple[PersonaPrincipal, ResolvedTool] | None:
    """The caller and a tool's active version, by a query or two; None where the ordinary path must look."""
    if not SHAPE.fullmatch(token_text) or "@" in name:
        return None
    row = row_read(_CALLER, (token_digest(token_text), USED_EVERY))
    if row is None:
        return None
    who: Who = row[:7]
    rights = rights_of(who[0], name, row[7], alone=not connection.in_atomic_block)
    if rights is None or rights.active is None:
        return None
    return rights.principal(who), rights.found(version_kept(*rights.active))


@functools.cache
def _insert(shape: tuple[tuple[type[models.Model], int], ...], clock: Clock | None) -> str:
    """One statement that inserts so many rows of each model, in this order: a chain of CTEs."""
    timed, expression = clock or ("", "")
    parts = []
    number = itertools.count(1)
    for model, count in shape:
        columns = [field.column for field, _ in fields_of(model)]
        names = ", ".join(f'"{column}"' for column in columns)

        def value(column: str) -> str:
            return expression if column == timed else f"${next(number)}"

        rows = (f"({', '.join(map(value, columns))})" for _ in range(count))
        # Table and columns are the models' own names; every value is a parameter.
        parts.append(f'INSERT INTO "{model._meta.db_table}" ({names}) VALUES {", ".join(rows)}')  # noqa: S608
    chained = [f"w{number} AS ({part})" for number, part in enumerate(parts[:-1])]
    return f"WITH {', '.join(chained)} {parts[-1]}" if chained else parts[-1]


@functools.cache
def fields_of(model: type[models.Model]) -> "tuple[tuple[models.Field[Any, Any], Convert], ...]":
    """The columns that an INSERT names (not a key that the database counts), and what makes their values."""
    fields = (field for field in model._meta.concrete_fields if not isinstance(field, models.AutoField))
    return tuple((field, _convert(field)) for field in fields)


def _convert(field: "models.Field[Any, Any]") -> Convert:
    """What psycopg needs done to a value before it takes it: JSON as its text, members of enums as theirs."""
    if isinstance(field, CanonicalJSONField):
        return field.get_prep_value
    return str if isinstance(field, models.CharField) else _as_it_is


def _as_it_is(value: Any) -> Any:
    return value


def rows_insert(groups: Sequence[Sequence[models.Model]], *, clock: Clock | None = None) -> None:
    """Writes rows of several models, each group of one model, by one statement: all or none.

    `clock` is a column, with the expression that fills it by the database's clock.
    """
    shape = tuple((type(group[0]), len(group)) for group in groups)
    values: list[Any] = []
    for model, group in zip((model for model, _ in shape), groups, strict=True):
        read, conversions = _reading(model, clock and clock[0])
        for row in group:
            first = len(values)
            values += read(row)
            for index, convert in conversions:
                values[first + index] = convert(values[first + index])
    statement_execute(_insert(shape, clock), values)


@functools.cache
def _reading(
    model: type[models.Model], but: str | None
) -> tuple[Callable[[models.Model], tuple[Any, ...]], tuple[tuple[int, Convert], ...]]:
    """What reads a row's columns at once, but for one, and which of them need converting."""
    fields = [(field, convert) for field, convert in fields_of(model) if field.column != but]
    needed = [(index, convert) for index, (_, convert) in enumerate(fields) if convert is not _as_it_is]
    return attrgetter(*(field.attname for field, _ in fields)), tuple(needed)


_WAITING = """
SELECT (SELECT count(*) FROM (
          SELECT 1 FROM execution_run WHERE status = 'pending' AND queue = $1 LIMIT $2) p)
     + (SELECT count(*) FROM (
          SELECT 1 FROM execution_run WHERE status = 'waiting_retry' AND queue = $1 LIMIT $2) r)
"""


def waiting_count(queue: str, most: int) -> int:
    """How many runs of a queue wait; no further than about `most`, each state by its own index."""
    (count,) = row_read(_WAITING, (queue, most)) or (0,)
    return int(count)
