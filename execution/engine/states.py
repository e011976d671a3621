"""A run's states: one table, from which the code, the triggers and the docs page are made.

`transition` is the only writer of a run's status; the hot path's statements have their part of it from
`move_sql`.
"""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from execution.models import Run, Status

S = Status
FINAL = frozenset({S.COMPLETED, S.FAILED, S.TIMEOUT, S.CANCELLED})
# Nothing more comes of itself: a person may resolve such a run, in hours or never.
UNRESOLVED = frozenset({S.OUTCOME_UNKNOWN, S.AWAITING_PERSON})
SETTLED = FINAL | UNRESOLVED


@dataclass(frozen=True)
class Move:
    """A permitted change of status: from, to, who makes it, and what must hold."""

    source: Status
    target: Status
    who: str
    guard: str


TABLE: tuple[Move, ...] = (
    Move(S.AWAITING_APPROVAL, S.PENDING, "approver", "bound to the exact call"),
    Move(S.AWAITING_APPROVAL, S.CANCELLED, "approver", "refused, or expired"),
    Move(S.AWAITING_APPROVAL, S.CANCELLED, "caller", "cancel asked"),
    Move(S.PENDING, S.RUNNING, "claim", "due, rights still hold, lease set"),
    Move(S.PENDING, S.CANCELLED, "caller", "cancel asked"),
    Move(S.PENDING, S.FAILED, "claim", "rights lost"),
    Move(S.PENDING, S.TIMEOUT, "steward", "deadline passed, never begun"),
    Move(S.RUNNING, S.COMPLETED, "finish", "my lease token"),
    Move(S.RUNNING, S.FAILED, "finish", "my lease token"),
    Move(S.RUNNING, S.TIMEOUT, "finish", "my lease token"),
    Move(S.RUNNING, S.CANCELLED, "finish", "my lease token"),
    Move(S.RUNNING, S.WAITING_RETRY, "finish", "retry allowed, due time set"),
    Move(S.RUNNING, S.WAITING_STEPS, "finish", "waits for runs: a fallback, or steps of a composition"),
    Move(S.RUNNING, S.AWAITING_PERSON, "finish", "the last attempt failed, and a person is to look"),
    Move(S.RUNNING, S.PENDING, "reaper", "lease over; not started, pure or idempotent; attempts left"),
    Move(S.RUNNING, S.FAILED, "reaper", "lease over; no attempts left (WORKER_LOST)"),
    Move(S.RUNNING, S.OUTCOME_UNKNOWN, "reaper", "lease over; started, neither pure nor idempotent"),
    Move(S.WAITING_RETRY, S.PENDING, "steward", "due"),
    Move(S.WAITING_RETRY, S.CANCELLED, "caller", "cancel asked"),
    Move(S.WAITING_STEPS, S.PENDING, "last step", "all steps have ended"),
    Move(S.WAITING_STEPS, S.COMPLETED, "last step", "the fallback has ended"),
    Move(S.WAITING_STEPS, S.FAILED, "last step", "the fallback has ended"),
    Move(S.WAITING_STEPS, S.TIMEOUT, "last step", "the fallback has ended"),
    Move(S.WAITING_STEPS, S.CANCELLED, "caller", "cancel asked"),
    Move(S.AWAITING_PERSON, S.COMPLETED, "person", "a person looked"),
    Move(S.AWAITING_PERSON, S.FAILED, "person", "a person looked"),
    Move(S.AWAITING_PERSON, S.CANCELLED, "caller", "cancel asked"),
    Move(S.OUTCOME_UNKNOWN, S.COMPLETED, "finish", "late result of the last lease, no newer attempt"),
    Move(S.OUTCOME_UNKNOWN, S.FAILED, "finish", "late result of the last lease, no newer attempt"),
    Move(S.OUTCOME_UNKNOWN, S.COMPLETED, "person", "a person looked"),
    Move(S.OUTCOME_UNKNOWN, S.FAILED, "person", "a person looked"),
)
_ALLOWED = frozenset((move.source, move.target, move.who) for move in TABLE)

# What may never change once the run has its outcome.
OUTCOME_COLUMNS = ("status", "result", "result_hash", "error", "completed_at", "outcome_leaf")


def transition(rows: QuerySet[Run], *, source: Status, target: Status, who: str, **changes: Any) -> int:
    """Moves those of `rows` that are in `source`, in one statement, and sets `changes` with it.

    A compare-and-set: returns how many moved, 0 when somebody else was first. Raises ValueError
    for a move that is not in TABLE.
    """
    _check(source, target, who)
    return rows.filter(status=source).update(status=target, **changes)


def move_sql(*, source: Status, target: Status, who: str) -> tuple[str, str]:
    """The condition and the assignment of a compare-and-set, for an UPDATE of the hot path.

    Raises ValueError for a move that is not in TABLE.
    """
    _check(source, target, who)
    # By an expression, which no index has: with an index on states, a plan that was made when few runs waited
    # would look through all that wait now. The run is found by its key.
    return f"status || '' = '{source.value}'", f"status = '{target.value}'"


def _check(source: Status, target: Status, who: str) -> None:
    if (source, target, who) not in _ALLOWED:
        raise ValueError(f"{who} may not move a run from {source} to {target}.")


def _pairs() -> str:
    return ", ".join(f"'{a}>{b}'" for a, b in sorted({(m.source.value, m.target.value) for m in TABLE}))


def _final() -> str:
    return ", ".join(f"'{status.value}'" for status in sorted(FINAL))


def _outcome_changed(differs: str, *, expiring: bool) -> str:
    """The condition under which an update touches an outcome; `differs` is the database's null-safe operator.

    `expiring` allows one thing: a result that becomes NULL in the statement that marks it as expired.
    """
    changes = [f"NEW.{name} {differs} OLD.{name}" for name in OUTCOME_COLUMNS if name != "result"]
    result = f"NEW.result {differs} OLD.result"
    if not expiring:
        return " OR ".join([*changes, result])
    expires = "NEW.result IS NULL AND OLD.payload_expired_at IS NULL AND NEW.payload_expired_at IS NOT NULL"
    mark = f"(OLD.payload_expired_at IS NOT NULL AND NEW.payload_expired_at {differs} OLD.payload_expired_at)"
    return " OR ".join([*changes, f"({result} AND NOT ({expires}))", mark])


def trigger_statements(vendor: str, *, expiring: bool = True) -> list[str]:
    """The triggers that refuse any other change of status and any change of an outcome, for a migration.

    A migration from before the column `payload_expired_at` says `expiring=False`.
    """
    guarded = [*OUTCOME_COLUMNS, "payload_expired_at"] if expiring else OUTCOME_COLUMNS
    columns = ", ".join(guarded)
    if vendor == "postgresql":
        changed = _outcome_changed("IS DISTINCT FROM", expiring=expiring)
        return [
            f"""
CREATE OR REPLACE FUNCTION execution_run_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.status IN ({_final()}) AND ({changed}) THEN
    RAISE EXCEPTION 'run % has its outcome', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF NEW.status <> OLD.status AND OLD.status || '>' || NEW.status NOT IN ({_pairs()}) THEN
    RAISE EXCEPTION 'run % may not go from % to %', OLD.id, OLD.status, NEW.status
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
DROP TRIGGER IF EXISTS execution_run_guard ON execution_run;
CREATE TRIGGER execution_run_guard BEFORE UPDATE OF {columns} ON execution_run
  FOR EACH ROW EXECUTE FUNCTION execution_run_guard();
"""
        ]
    changed = _outcome_changed("IS NOT", expiring=expiring)
    return [
        "DROP TRIGGER IF EXISTS execution_run_guard_insert",
        # INSERT OR REPLACE would put another run in the place of one that has its outcome.
        (
            "CREATE TRIGGER execution_run_guard_insert BEFORE INSERT ON execution_run "
            "WHEN EXISTS (SELECT 1 FROM execution_run WHERE id = NEW.id) "
            "BEGIN SELECT RAISE(ABORT, 'there is a run with this id'); END"
        ),
        "DROP TRIGGER IF EXISTS execution_run_guard_outcome",
        "DROP TRIGGER IF EXISTS execution_run_guard_status",
        (
            f"CREATE TRIGGER execution_run_guard_outcome BEFORE UPDATE OF {columns} ON execution_run "
            f"WHEN OLD.status IN ({_final()}) AND ({changed}) "
            "BEGIN SELECT RAISE(ABORT, 'the run has its outcome'); END"
        ),
        (
            f"CREATE TRIGGER execution_run_guard_status BEFORE UPDATE OF status ON execution_run "
            f"WHEN NEW.status <> OLD.status AND OLD.status || '>' || NEW.status NOT IN ({_pairs()}) "
            "BEGIN SELECT RAISE(ABORT, 'a run may not change its status so'); END"
        ),
    ]
