"""Calls, errors and times taken, over time."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from execution.models import Run
from execution.runs.selectors import STATUS_GROUPS, first_id_at, runs_seen
from security.models import User

# Hours shown, and the seconds of one step.
WINDOWS = {1: 60, 24: 1800, 168: 14_400}
# So many of the newest runs of a step tell its times: enough for a p95, and few to read.
SAMPLED = 200

# Both go step by step along the ids, which are ordered by time: counts come from indexes alone.
_COUNT = (
    "SELECT {n}, (SELECT COUNT(*) FROM {runs} WHERE id >= %s AND id < %s), "
    "(SELECT COUNT(*) FROM {runs} WHERE status IN ({failed}) AND id >= %s AND id < %s)"
)
_TIMES = (
    "SELECT {n}, duration_ms FROM (SELECT duration_ms FROM {runs} WHERE id >= %s AND id < %s "
    "AND duration_ms IS NOT NULL ORDER BY id DESC LIMIT {sampled}) AS newest{n}"
)


# What runs are read from, and its parameters.
Seen = tuple[str, tuple[Any, ...]]


@dataclass(frozen=True)
class Step:
    """What happened between `at` and the next step. Times taken are in ms, None where nothing ended."""

    at: datetime
    calls: int
    errors: int
    p50_ms: float | None
    p95_ms: float | None


def series(hours: int, by: User, now: datetime | None = None) -> list[Step]:
    """The steps of the last `hours` (of WINDOWS), oldest first; empty steps are there, too. Two queries.

    Of runs that the person sees.
    """
    length = timedelta(seconds=WINDOWS[hours])
    now = now or timezone.now()
    last = now - (now - datetime.fromtimestamp(0, now.tzinfo)) % length
    begins = [last - length * back for back in reversed(range(timedelta(hours=hours) // length))]
    seen = _seen(by)
    counts = {row[0]: row[1:] for row in _counts(begins, length, seen)}
    times: dict[int, list[float]] = {}
    for number, duration in _durations(begins, length, seen):
        times.setdefault(number, []).append(duration)
    return [
        Step(at, *counts[number], *(_rank(times.get(number, []), share) for share in (50, 95)))
        for number, at in enumerate(begins)
    ]


def _rank(values: list[float], share: int) -> float | None:
    """The nearest-rank percentile: the first value that at least `share` percent do not exceed."""
    return sorted(values)[-(-len(values) * share // 100) - 1] if values else None


def _counts(begins: list[datetime], length: timedelta, seen: Seen) -> list[tuple[int, int, int]]:
    failed = [status.value for status in STATUS_GROUPS["unsuccessful"]]
    marks = ", ".join(["%s"] * len(failed))
    parts, given = [], []
    for number, at in enumerate(begins):
        between = [_key(at), _key(at + length)]
        parts.append(_COUNT.format(n=number, failed=marks, runs=seen[0]))
        given += [*seen[1], *between, *seen[1], *failed, *between]
    return _fetched(parts, given)


def _durations(begins: list[datetime], length: timedelta, seen: Seen) -> list[tuple[int, float]]:
    parts = [_TIMES.format(n=number, sampled=SAMPLED, runs=seen[0]) for number in range(len(begins))]
    given = [one for at in begins for one in (*seen[1], _key(at), _key(at + length))]
    return _fetched(parts, given)


def _seen(by: User) -> Seen:
    """The table of runs; for who does not see them all, a statement in its place."""
    rows = runs_seen(by)
    if not rows.query.where:
        return "execution_run", ()
    statement, given = rows.values("id", "status", "duration_ms").query.sql_with_params()
    return f"({statement}) AS seen", tuple(given)


def _key(at: datetime) -> Any:
    return Run._meta.pk.get_db_prep_value(first_id_at(at), connection)


def _fetched(parts: list[str], given: list[Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts), given)
        return list(cursor.fetchall())
