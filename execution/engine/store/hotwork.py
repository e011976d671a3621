"""The worker's prepared statements, on PostgreSQL: choose a run, begin it, finish it.

Each does in one statement what `claim.py` and `finish.py` do through the ORM elsewhere. A run that is
unusual in any way (it has more events than expected, or another owner) makes `finished_write` answer
False, and the ordinary way finds out why.
"""

import functools
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import connection, models

from audit.models import Event
from core.fields import CanonicalJSONField
from core.json.canonical import canonical
from execution.engine.calls.gates import Facts
from execution.engine.caps import DEFAULT_SESSION, Choice
from execution.engine.outcomes import Outcome
from execution.engine.states import move_sql
from execution.engine.store.hotpath import fields_of, type_of, version_kept
from execution.engine.store.rights import EPOCH, rights_of
from execution.engine.store.statements import row_read
from execution.models import Run, Status
from execution.run_events import CLAIMED, STARTED
from security.facts import TokenState
from security.lineage import ENDED

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
  UPDATE execution_run SET {target}, attempt = attempt + 1, lease_token = $2, lease_boot = '',
         lease_ends = EXTRACT(EPOCH FROM clock_timestamp())::double precision + $3::double precision,
         started_at = $4, events_count = events_count + 2
   WHERE id = $1 AND {source}
     AND ($7::integer = 0 OR inline OR session NOT IN {default} OR $7 > (
       SELECT count(*) FROM execution_run b
        WHERE b.status = 'running' AND b.persona_id = execution_run.persona_id AND NOT b.inline
          AND b.session IN {default}))
   RETURNING *
), tried AS (
  INSERT INTO execution_attempt
         (run_id, number, lease_token, worker, claimed_at, started_at, status, error_code)
  SELECT id, attempt, $2, $5, $4, $4, '', '' FROM moved
), told AS (
  INSERT INTO execution_runevent (run_id, seq, kind, at, data)
  SELECT id, events_count - 1, '{claimed}', $4::timestamptz,
         '{{"attempt":' || attempt || ',"worker":' || $6::text || '}}' FROM moved
  UNION ALL
  SELECT id, events_count, '{started}', $4, '{{"attempt":' || attempt || '}}' FROM moved
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
         sandbox = $16
   WHERE id = $1 AND lease_token = $2 AND events_count = $3 - 1 AND {source} RETURNING id
), tried AS (
  UPDATE execution_attempt a SET finished_at = $12, status = '{status}', error_code = $13, error = $8,
         duration_ms = $5
    FROM moved WHERE a.run_id = moved.id AND a.lease_token = $2
), told AS (
  INSERT INTO execution_runevent (run_id, seq, kind, at, data)
  SELECT id, $3, $14, $15, '{{}}' FROM moved
), kept AS (
  INSERT INTO audit_event ({ledger}) SELECT {values} FROM moved
)
SELECT 1 FROM moved
"""


def run_choose(queue: str) -> Choice | None:
    """Lock the fairest due run of a queue whose caps are free, passing over what others have locked.

    A run of a default session brings that session's lock; `run_begin` counts again under it.
    """
    caps = (settings.SESSION_RUNS_MAX, settings.PERSONA_RUNS_MAX, settings.HUB_RUNS_MAX)
    row = row_read(_choose(), (queue, *caps))
    return Choice(*row) if row else None


@functools.cache
def _choose() -> str:
    return _CHOOSE.replace("{default}", str(DEFAULT_SESSION))


def run_begin(
    run_id: UUID, token: UUID, at: datetime, worker: str, *, alone: bool
) -> tuple[Run, Facts] | None:
    """Claims and starts a pending run, with attempt and events, and reads what its rights rest on.

    None where the run is not pending any more, or its default session is full. `alone` is for `rights_of`.
    """
    named = canonical(worker).decode()
    at_once = settings.SESSION_RUNS_MAX
    row = row_read(_begin(), (run_id, token, float(settings.LEASE_S), at, worker, named, at_once))
    if row is None:
        return None
    count = len(_columns())
    run = Run.from_db(connection.alias, [field.attname for field, _ in _columns()], _read(row[:count]))
    return run, _facts(run, row[count:], alone=alone)


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
        values=", ".join(f"${number}::{type_of(field)}" for number, field in enumerate(ledger, start=17)),
    )


def finished_write(run: Run, token: UUID, outcome: Outcome, event_at: datetime, ledger: Event) -> bool:
    """Writes the outcome of a running run with attempt, event and ledger. False when nothing fits.

    `run.events_count` is what it was before this outcome; a run that has got another event meanwhile is left.
    """
    result = outcome.data if outcome.status is Status.COMPLETED else None
    values: list[Any] = [run.pk, token, run.events_count + 1, event_at, outcome.duration_ms]
    values += [_json(result), outcome.result_hash, _json(outcome.error), _json(dict(outcome.resources))]
    values += [_json([*run.warnings, *outcome.warnings]), ledger.leaf, outcome.ended_at, outcome.error_code]
    values += [outcome.event, event_at, _json(outcome.sandbox)]
    values += [convert(getattr(ledger, field.attname)) for field, convert in fields_of(Event)]
    return row_read(_finish(outcome.status), values) is not None


def _json(value: Any) -> str | None:
    return None if value is None else canonical(value).decode()
