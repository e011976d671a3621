"""The statements of PostgreSQL: each operation in one, prepared once.

Data-modifying CTEs make a run of several tables by one statement, which is a transaction of its own.
"""

import contextlib
import functools
import itertools
import uuid
from collections.abc import Callable, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import connection, models, transaction
from django.utils import timezone

from audit.models import Event
from core.fields import CanonicalJSONField
from core.json.canonical import canonical
from execution.engine.due import DEFAULT_SESSION, Choice
from execution.engine.facts import Facts
from execution.engine.outcomes import Outcome
from execution.engine.states import move_sql
from execution.engine.store.interface import Clock, Known, Store
from execution.engine.store.known import Proof, version_kept
from execution.engine.store.rights import EPOCH, Who, rights_of
from execution.engine.store.statements import row_read, statement_execute
from execution.models import IdempotencyKey, Run, Status
from execution.run_events import CLAIMED, STARTED
from registry.selectors import ResolvedTool
from security.facts import TokenState
from security.lineage import ENDED
from security.principals import PersonaPrincipal
from security.tokens import SHAPE, USED_EVERY, token_digest

Convert = Callable[[Any], Any]

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


# Kinds of waiting work (persona and tool) are found by leaps through the index `run_due`: what a claim costs
# does not grow with the number of runs that wait. Then the fairest kind that has a run whose caps are free.
_CHOOSE = """
WITH RECURSIVE kinds AS (
  (SELECT persona_id, tool, due_at FROM execution_run
    WHERE status = 'pending' AND queue = $1 AND NOT inline ORDER BY persona_id, tool, due_at LIMIT 1)
  UNION ALL
  SELECT n.persona_id, n.tool, n.due_at FROM kinds k CROSS JOIN LATERAL (
    SELECT r.persona_id, r.tool, r.due_at FROM execution_run r
     WHERE r.status = 'pending' AND r.queue = $1 AND NOT r.inline
       AND (r.persona_id, r.tool) > (k.persona_id, k.tool)
     ORDER BY r.persona_id, r.tool, r.due_at LIMIT 1) n
), busy AS MATERIALIZED (
  SELECT persona_id, tool, CASE WHEN session IN {default} THEN '' ELSE session END AS session,
         inline AND session IN {default} AS uncounted
    FROM execution_run WHERE status = 'running'
), ranked AS MATERIALIZED (
  SELECT k.persona_id, k.tool, t.busy AS tool_busy
    FROM kinds k
    CROSS JOIN LATERAL (SELECT count(*) AS busy FROM busy b WHERE b.persona_id = k.persona_id) p
    CROSS JOIN LATERAL (SELECT count(*) AS busy FROM busy b WHERE b.tool = k.tool) t
   WHERE k.due_at <= statement_timestamp()
     AND NOT EXISTS (
       SELECT 1 FROM policy_restriction s
        WHERE s.is_pause AND (s.persona_id IS NULL OR s.persona_id = k.persona_id) AND s.tool IN ('', k.tool)
          AND (s.expires_at IS NULL OR s.expires_at > statement_timestamp()))
     AND ($3::integer = 0 OR p.busy < $3) AND ($4::integer = 0 OR (SELECT count(*) FROM busy) < $4)
   ORDER BY p.busy, t.busy, k.due_at
), chosen AS MATERIALIZED (
  SELECT one.id, one.persona_id, one.tool, one.session, one.at_once FROM ranked CROSS JOIN LATERAL (
    SELECT r.id, r.persona_id, r.tool, r.session, r.at_once FROM execution_run r
     WHERE r.status = 'pending' AND r.queue = $1 AND NOT r.inline
       AND r.persona_id = ranked.persona_id AND r.tool = ranked.tool AND r.due_at <= statement_timestamp()
       AND (r.attempt > 0 OR r.deadline_at IS NULL OR r.deadline_at > statement_timestamp())
       AND (r.at_once IS NULL OR ranked.tool_busy < r.at_once)
       AND ($2::integer = 0 OR $2 > (
         SELECT count(*) FROM busy b
          WHERE b.persona_id = r.persona_id AND NOT b.uncounted
            AND b.session = CASE WHEN r.session IN {default} THEN '' ELSE r.session END))
     ORDER BY r.due_at, r.id LIMIT 1 FOR UPDATE OF r SKIP LOCKED) one
  LIMIT 1
)
SELECT id, persona_id, tool, session, at_once FROM chosen
 WHERE $2::integer = 0 OR session NOT IN {default}
    OR pg_advisory_xact_lock(hashtextextended('cap:session:' || persona_id, 0)) IS NOT NULL
"""

_BEGIN = """
WITH moved AS (
  UPDATE execution_run SET {target}, attempt = attempt + 1, lease_token = $2, beats = 0, beat_at = $3,
         started_at = $3, events_count = events_count + 2
   WHERE id = $1 AND {source}
     AND ($6::integer = 0 OR inline OR session NOT IN {default} OR $6 > (
       SELECT count(*) FROM execution_run b
        WHERE b.status = 'running' AND b.persona_id = execution_run.persona_id AND NOT b.inline
          AND b.session IN {default}))
   RETURNING *
), tried AS (
  INSERT INTO execution_attempt
         (run_id, number, lease_token, worker, claimed_at, started_at, status, error_code)
  SELECT id, attempt, $2, $4, $3, $3, '', '' FROM moved
), told AS (
  INSERT INTO execution_runevent (run_id, seq, kind, at, data)
  SELECT id, events_count - 1, '{claimed}', $3::timestamptz,
         '{{"attempt":' || attempt || ',"worker":' || $5::text || '}}' FROM moved
  UNION ALL
  SELECT id, events_count, '{started}', $3, '{{"attempt":' || attempt || '}}' FROM moved
)
SELECT {columns}, v.digest, v.state, v.state_reason,
       p.name, p.is_active, t.id, t.revoked_at IS NOT NULL OR {ended}, u.id, u.username, u.is_active, {epoch}
  FROM moved m
  JOIN security_persona p ON p.id = m.persona_id
  LEFT JOIN security_token t ON t.id = m.token_id
  LEFT JOIN security_user u
    ON u.id = CASE WHEN m.token_id IS NULL THEN m.responsible_id ELSE t.responsible_id END
  JOIN registry_toolversion v ON v.id = m.tool_version_id
"""

_FINISH = """
WITH moved AS (
  UPDATE execution_run SET {target}, completed_at = $4, duration_ms = $5, result = $6, result_hash = $7,
         error = $8, resources = $9, warnings = $10, outcome_leaf = $11, events_count = $3,
         sandbox = $16, side_effect = $17
   WHERE id = $1 AND lease_token = $2 AND events_count = $3 - 1 AND {source} RETURNING id
), tried AS (
  UPDATE execution_attempt a SET finished_at = $12, status = '{status}', error_code = $13, error = $8,
         duration_ms = $5, side_effect = $17
    FROM moved WHERE a.run_id = moved.id AND a.lease_token = $2
), told AS (
  INSERT INTO execution_runevent (run_id, seq, kind, at, data)
  SELECT id, $3, $14, $15, '{{}}' FROM moved
), kept AS (
  INSERT INTO audit_event ({ledger}) SELECT {values} FROM moved
)
SELECT 1 FROM moved
"""


_COUNT = """SELECT count(*) FROM (
  SELECT 1 FROM execution_run WHERE status = '{}' AND queue = $1 {} LIMIT $3) {}"""
_ALL = ("pending", "", "a"), ("waiting_retry", "", "b")
_OWN = ("pending", "AND persona_id = $2", "c"), ("waiting_retry", "AND persona_id = $2", "d")
# Each state by an index of its own.
_WAITING = "SELECT {}, {}".format(
    *(" + ".join(f"({_COUNT.format(*part)})" for part in parts) for parts in (_ALL, _OWN))
)


class PostgresStore(Store):
    """Each operation by one prepared statement."""

    def __init__(self) -> None:
        self._callers: dict[bytes, Proof] = {}

    def forget(self) -> None:
        """Drop what is known of callers; for tests that change a database behind it."""
        self._callers.clear()

    def caller_read(self, token_text: str, tool: str) -> tuple[PersonaPrincipal, ResolvedTool] | None:
        if not SHAPE.fullmatch(token_text) or "@" in tool:
            return None
        digest = token_digest(token_text)
        row = row_read(_CALLER, (digest, USED_EVERY))
        if row is None:
            self._callers.pop(digest, None)
            return None
        who: Who = row[:7]
        alone = not connection.in_atomic_block
        if alone and row[7] is not None:
            if len(self._callers) >= KEPT:
                self._callers.clear()
            self._callers[digest] = Proof(digest, who, row[7], row[8])
        return _resolved(who, tool, row[7], alone=alone)

    def caller_known(self, token_text: str, tool: str) -> Known | None:
        if "@" in tool or connection.in_atomic_block or not SHAPE.fullmatch(token_text):
            return None
        proof = self._callers.get(token_digest(token_text))
        facts = proof and _resolved(proof.who, tool, proof.epoch, alone=True)
        return (*facts, proof) if proof and facts else None

    def rows_write(
        self,
        groups: Sequence[Sequence[models.Model]],
        *,
        clock: Clock | None = None,
        proof: Proof | None = None,
    ) -> bool:
        # One statement is a transaction of its own. Within one of the caller's, an idempotency key that was
        # used meanwhile must not spoil that: so it gets a savepoint.
        keyed = any(isinstance(group[0], IdempotencyKey) for group in groups)
        with transaction.atomic() if keyed and connection.in_atomic_block else contextlib.nullcontext():
            written = _rows_insert(groups, clock, proof)
        if not written and proof:
            self._callers.pop(proof.digest, None)
        return written

    def waiting_counts(self, queue: str, persona_id: int, most: int) -> tuple[int, int]:
        waiting, own = row_read(_WAITING, (queue, persona_id, most)) or (0, 0)
        return int(waiting), int(own)

    def choose(self, queue: str) -> Choice | None:
        # A run of a default session brings that session's lock; `begin` counts again under it.
        caps = (settings.SESSION_RUNS_MAX, settings.PERSONA_RUNS_MAX, settings.HUB_RUNS_MAX)
        row = row_read(_choose(), (queue, *caps))
        return Choice(*row) if row else None

    def names_lock(self, names: Sequence[str]) -> None:
        with connection.cursor() as cursor:
            for name in names:
                cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])

    def begin(self, run_id: UUID, worker: str, *, alone: bool) -> tuple[Run, Facts] | None:
        named, at, token = canonical(worker).decode(), timezone.now(), uuid.uuid4()
        most = settings.SESSION_RUNS_MAX
        row = row_read(_begin(), (run_id, token, at, worker, named, most))
        if row is None:
            return None
        count = len(_columns())
        run = Run.from_db(connection.alias, [field.attname for field, _ in _columns()], _read(row[:count]))
        return run, _facts(run, row[count:], alone=alone)

    def finish(self, run: Run, token: UUID, outcome: Outcome, event_at: datetime, ledger: Event) -> bool:
        result = outcome.data if outcome.status is Status.COMPLETED else None
        values: list[Any] = [run.pk, token, run.events_count + 1, event_at, outcome.duration_ms]
        values += [_json(result), outcome.result_hash, _json(outcome.error), _json(dict(outcome.resources))]
        values += [
            _json([*run.warnings, *outcome.warnings]),
            ledger.leaf,
            outcome.ended_at,
            outcome.error_code,
        ]
        values += [outcome.event, event_at, _json(outcome.sandbox), outcome.side_effect or ""]
        values += [convert(getattr(ledger, field.attname)) for field, convert in fields_of(Event)]
        return row_read(_finish(outcome.status), values) is not None


def _resolved(
    who: Who, name: str, epoch: int | None, *, alone: bool
) -> tuple[PersonaPrincipal, ResolvedTool] | None:
    rights = rights_of(who[0], name, epoch, alone=alone)
    if rights is None or rights.active is None:
        return None
    return rights.principal(who), rights.found(version_kept(*rights.active))


@functools.cache
def _insert(shape: tuple[tuple[type[models.Model], int], ...], timed: frozenset[str], proof: str) -> str:
    """One statement that inserts so many rows of each model, in this order: a chain of CTEs.

    Where there is a query that is the proof, it begins with that, whose values come first.
    """
    chained = [f"proof AS ({proof})"] if proof else []
    numbers = itertools.count(11 if proof else 1)
    parts = []
    for model, count in shape:
        fields = [field for field, _ in fields_of(model)]
        names = ", ".join(f'"{field.column}"' for field in fields)

        def value(field: "models.Field[Any, Any]") -> str:
            if field.column in timed:
                return f"statement_timestamp() + make_interval(secs => ${next(numbers)}::double precision)"
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


def _rows_insert(groups: Sequence[Sequence[models.Model]], clock: Clock | None, proof: Proof | None) -> bool:
    """All rows by one statement. False, with nothing written, where the proof does not hold."""
    shape = tuple((type(group[0]), len(group)) for group in groups)
    values: list[Any] = [*proof.values()] if proof else []
    for model, group in zip((model for model, _ in shape), groups, strict=True):
        read, conversions, timed = _reading(model, frozenset(clock or ()))
        for row in group:
            first = len(values)
            values += read(row)
            for index, convert in conversions:
                values[first + index] = convert(values[first + index])
            for index, column in timed:
                values[first + index] = clock[column] if clock else None
    unchanged = _UNCHANGED[proof.in_line] if proof else ""
    written = statement_execute(_insert(shape, frozenset(clock or ()), unchanged), values)
    return bool(written) or proof is None


@functools.cache
def _reading(
    model: type[models.Model], timed: frozenset[str]
) -> tuple[
    Callable[[models.Model], tuple[Any, ...]], tuple[tuple[int, Convert], ...], tuple[tuple[int, str], ...]
]:
    """What reads a row's columns at once; which of them need converting; which the clock fills."""
    fields = fields_of(model)
    needed = [(index, convert) for index, (_, convert) in enumerate(fields) if convert is not _as_it_is]
    clocked = [(index, field.column) for index, (field, _) in enumerate(fields) if field.column in timed]
    return attrgetter(*(field.attname for field, _ in fields)), tuple(needed), tuple(clocked)


@functools.cache
def _choose() -> str:
    return _CHOOSE.replace("{default}", str(DEFAULT_SESSION))


@functools.cache
def _begin() -> str:
    source, target = move_sql(source=Status.PENDING, target=Status.RUNNING, who="claim")
    columns = ", ".join(f'm."{field.column}"' for field, _ in _columns())
    named = {"columns": columns, "claimed": CLAIMED, "started": STARTED, "epoch": EPOCH, "ended": ENDED}
    named["default"] = str(DEFAULT_SESSION)
    return _BEGIN.format(source=source, target=target, **named)


@functools.cache
def _columns() -> "tuple[tuple[models.Field[Any, Any], bool], ...]":
    """A run's columns, and which of them hold JSON."""
    return tuple((field, isinstance(field, CanonicalJSONField)) for field in Run._meta.concrete_fields)


def _read(values: Sequence[Any]) -> list[Any]:
    return [
        orjson.loads(value) if is_json and value is not None else value
        for value, (_, is_json) in zip(values, _columns(), strict=True)
    ]


def _facts(run: Run, row: Sequence[Any], *, alone: bool) -> Facts:
    digest, state, reason, persona, persona_active, token_id, revoked, *rest = row
    responsible_id, responsible, responsible_active, epoch = rest
    run.tool_version = version_kept(run.tool_version_id, digest, state, reason)
    rights = rights_of(run.persona_id, run.tool_version.tool.name, epoch, alone=alone)
    assert rights is not None  # noqa: S101 - a tool that has versions is never deleted
    found = rights.found(run.tool_version)
    if responsible_id is None:
        return Facts(None, found)
    who = (run.persona_id, persona, persona_active, token_id, responsible_id, responsible, responsible_active)
    token_state: TokenState = "none" if token_id is None else "revoked" if revoked else "valid"
    return Facts((rights.principal(who), token_state), found)


@functools.cache
def _finish(status: Status) -> str:
    source, target = move_sql(source=Status.RUNNING, target=status, who="finish")
    ledger = [field for field, _ in fields_of(Event)]
    return _FINISH.format(
        source=source,
        target=target,
        status=status.value,
        ledger=", ".join(f'"{field.column}"' for field in ledger),
        values=", ".join(f"${number}::{type_of(field)}" for number, field in enumerate(ledger, start=18)),
    )


def _json(value: Any) -> str | None:
    return None if value is None else canonical(value).decode()
