"""The execute path's few prepared statements, on PostgreSQL. Everything else goes through the ORM.

One statement reads who calls, one what it may do where that changed, and one writes a run that is over. Who
called before needs the last alone: it writes nothing unless all that the call was decided on still holds.
A call that is unusual in any way
(unknown token, named version, no such tool) makes `facts_read` answer None, and the ordinary path
says what is wrong.
"""

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from django.conf import settings
from django.db import connection, models

from core.fields import CanonicalJSONField
from execution.engine.store.rights import EPOCH, Who, rights_of
from execution.engine.store.statements import row_read, statement_execute
from registry.models import ToolVersion
from registry.selectors import ResolvedTool
from security.lineage import ENDED
from security.principals import PersonaPrincipal
from security.tokens import SHAPE, USED_EVERY, token_digest

Convert = Callable[[Any], Any]
Clock = tuple[str, str]

# Of names and columns only; every value is a parameter.
_WHO = "p.id, p.name, p.is_active, t.id, u.id, u.username, u.is_active"
_VALID = """
  FROM security_token t
  JOIN security_persona p ON p.id = t.persona_id
  JOIN security_user u ON u.id = t.responsible_id
 WHERE t.digest = $1 AND t.revoked_at IS NULL AND t.expires_at > clock_timestamp()
   AND t.last_used_at > clock_timestamp() - $2::interval
"""
_CALLER = f"SELECT {_WHO}, {EPOCH}, t.made_with_id IS NOT NULL {_VALID} AND NOT {ENDED}"
# By whether the token was made with another: to make ready for looking at those takes a tenth of the time.
_UNCHANGED = {
    in_line: f"""
SELECT 1 {_VALID} AND {line} AND {EPOCH} = $10::bigint
   AND ({_WHO}) = ($3::bigint, $4::varchar, $5::boolean, $6::bigint, $7::bigint, $8::varchar, $9::boolean)
"""
    for in_line, line in ((False, "t.made_with_id IS NULL"), (True, f"NOT {ENDED}"))
}
# So many callers are known in a process.
KEPT = 4096


class Outdated(Exception):
    """What a call was decided on may not hold any more: nothing was written, and it is decided anew."""


@dataclass(frozen=True)
class Proof:
    """What a call was decided on: the token's digest, who it was, and the epoch of its rights.

    `in_line` tells whether the token was made with another, so that what that one may holds as well.
    """

    digest: bytes
    who: Who
    epoch: int
    in_line: bool

    def values(self) -> tuple[Any, ...]:
        """As the statement that writes compares them."""
        return self.digest, USED_EVERY, *self.who, self.epoch


_callers: dict[bytes, Proof] = {}


def is_served() -> bool:
    """Whether the database has this path."""
    return not settings.DATABASE_IS_SQLITE


@functools.lru_cache(maxsize=4096)
def version_kept(version_id: int, digest: str, state: str, reason: str) -> ToolVersion:
    """A tool version with tool and package. Immutable but for its state, which is part of the key.

    So is its digest: after a restore of the database another version may get the same id.
    """
    row = ToolVersion.objects.select_related("tool__package").get(pk=version_id)
    row.state, row.state_reason = state, reason
    return row


def facts_read(token_text: str, name: str) -> tuple[PersonaPrincipal, ResolvedTool] | None:
    """The caller and a tool's active version, by a query or two; None where the ordinary path must look."""
    if not SHAPE.fullmatch(token_text) or "@" in name:
        return None
    digest = token_digest(token_text)
    row = row_read(_CALLER, (digest, USED_EVERY))
    if row is None:
        _callers.pop(digest, None)
        return None
    who: Who = row[:7]
    alone = not connection.in_atomic_block
    if alone and row[7] is not None:
        if len(_callers) >= KEPT:
            _callers.clear()
        _callers[digest] = Proof(digest, who, row[7], row[8])
    return _facts(who, name, row[7], alone=alone)


def facts_kept(token_text: str, name: str) -> tuple[PersonaPrincipal, ResolvedTool, Proof] | None:
    """The same by what this process read before, with the proof that the statement that writes compares."""
    if not is_served() or "@" in name or connection.in_atomic_block or not SHAPE.fullmatch(token_text):
        return None
    proof = _callers.get(token_digest(token_text))
    facts = proof and _facts(proof.who, name, proof.epoch, alone=True)
    return (*facts, proof) if proof and facts else None


def _facts(
    who: Who, name: str, epoch: int | None, *, alone: bool
) -> tuple[PersonaPrincipal, ResolvedTool] | None:
    rights = rights_of(who[0], name, epoch, alone=alone)
    if rights is None or rights.active is None:
        return None
    return rights.principal(who), rights.found(version_kept(*rights.active))


@functools.cache
def _insert(shape: tuple[tuple[type[models.Model], int], ...], clock: Clock | None, proof: str) -> str:
    """One statement that inserts so many rows of each model, in this order: a chain of CTEs.

    Where there is a query that is the proof, it begins with that, whose values come first.
    """
    timed, expression = clock or ("", "")
    chained = [f"proof AS ({proof})"] if proof else []
    numbers = itertools.count(11 if proof else 1)
    parts = []
    for model, count in shape:
        fields = [field for field, _ in fields_of(model)]
        names = ", ".join(f'"{field.column}"' for field in fields)

        def value(field: "models.Field[Any, Any]") -> str:
            if field.column == timed:
                return expression
            # Only a VALUES list tells PostgreSQL the types by itself.
            return f"${next(numbers)}{f'::{type_of(field)}' if proof else ''}"

        rows = [", ".join(map(value, fields)) for _ in range(count)]
        given = (
            " UNION ALL ".join(f"SELECT {row} FROM proof" for row in rows)  # noqa: S608
            if proof
            else f"VALUES {', '.join(f'({row})' for row in rows)}"
        )
        # Table and columns are the models' own names; every value is a parameter.
        parts.append(f'INSERT INTO "{model._meta.db_table}" ({names}) {given}')
    chained += [f"w{number} AS ({part})" for number, part in enumerate(parts[:-1])]
    last = f"{parts[-1]} RETURNING 1" if proof else parts[-1]
    return f"WITH {', '.join(chained)} {last}" if chained else last


def type_of(field: "models.Field[Any, Any]") -> str:
    """The column's type for a cast, which would cut what is too long for a varchar with a length."""
    return str(field.db_type(connection)).partition("(")[0]


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


def rows_insert(
    groups: Sequence[Sequence[models.Model]], *, clock: Clock | None = None, proof: Proof | None = None
) -> None:
    """Writes rows of several models, each group of one model, by one statement: all or none.

    `clock` is a column, with the expression that fills it by the database's clock. Raises Outdated, and
    writes nothing, where what `proof` says does not hold any more.
    """
    shape = tuple((type(group[0]), len(group)) for group in groups)
    values: list[Any] = [*proof.values()] if proof else []
    for model, group in zip((model for model, _ in shape), groups, strict=True):
        read, conversions = _reading(model, clock and clock[0])
        for row in group:
            first = len(values)
            values += read(row)
            for index, convert in conversions:
                values[first + index] = convert(values[first + index])
    unchanged = _UNCHANGED[proof.in_line] if proof else ""
    written = statement_execute(_insert(shape, clock, unchanged), values)
    if proof and not written:
        _callers.pop(proof.digest, None)
        raise Outdated


@functools.cache
def _reading(
    model: type[models.Model], but: str | None
) -> tuple[Callable[[models.Model], tuple[Any, ...]], tuple[tuple[int, Convert], ...]]:
    """What reads a row's columns at once, but for one, and which of them need converting."""
    fields = [(field, convert) for field, convert in fields_of(model) if field.column != but]
    needed = [(index, convert) for index, (_, convert) in enumerate(fields) if convert is not _as_it_is]
    return attrgetter(*(field.attname for field, _ in fields)), tuple(needed)


_COUNT = """SELECT count(*) FROM (
  SELECT 1 FROM execution_run WHERE status = '{}' AND queue = $1 {} LIMIT $3) {}"""
_ALL = ("pending", "", "a"), ("waiting_retry", "", "b")
_OWN = ("pending", "AND persona_id = $2", "c"), ("waiting_retry", "AND persona_id = $2", "d")
# Each state by an index of its own.
_WAITING = "SELECT {}, {}".format(
    *(" + ".join(f"({_COUNT.format(*part)})" for part in parts) for parts in (_ALL, _OWN))
)


def waiting_counts(queue: str, persona_id: int, most: int) -> tuple[int, int]:
    """Count the runs that wait in a queue, and the persona's among them; each up to about `most`."""
    waiting, own = row_read(_WAITING, (queue, persona_id, most)) or (0, 0)
    return int(waiting), int(own)
