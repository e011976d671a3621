"""Calls, errors and times taken, over time."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from execution.models import Run
from execution.runs.selectors import STATUS_GROUPS, first_id_at

# Hours shown, and the seconds of one step.
WINDOWS = {1: 60, 24: 1800, 168: 14_400}
# So many of the newest runs of a step tell its times: enough for a p95, and few to read.
SAMPLED = 200

# Both go step by step along the ids, which are ordered by time: counts come from indexes alone.
_COUNT = (
    "SELECT {n}, (SELECT COUNT(*) FROM execution_run WHERE id >= %s AND id < %s), "
    "(SELECT COUNT(*) FROM execution_run WHERE status IN ({failed}) AND id >= %s AND id < %s)"
)
_TIMES = (
    "SELECT {n}, duration_ms FROM (SELECT duration_ms FROM execution_run WHERE id >= %s AND id < %s "
    "AND duration_ms IS NOT NULL ORDER BY id DESC LIMIT {sampled}) AS newest{n}"
)


@dataclass(frozen=True)
class Step:
    """What happened between `at` and the next step. Times taken are in ms, None where nothing ended."""

    at: datetime
    calls: int
    errors: int
    p50_ms: float | None
    p95_ms: float | None


def series(hours: int, now: datetime | None = None) -> list[Step]:
    """The steps of the last `hours` (of WINDOWS), oldest first; empty steps are there, too. Two queries."""
    length = timedelta(seconds=WINDOWS[hours])
    now = now or timezone.now()
    last = now - (now - datetime.fromtimestamp(0, now.tzinfo)) % length
    begins = [last - length * back for back in reversed(range(timedelta(hours=hours) // length))]
    counts = {row[0]: row[1:] for row in _counts(begins, length)}
    times: dict[int, list[float]] = {}
    for number, duration in _durations(begins, length):
        times.setdefault(number, []).append(duration)
    return [
        Step(at, *counts[number], *(_rank(times.get(number, []), share) for share in (50, 95)))
        for number, at in enumerate(begins)
    ]


def _rank(values: list[float], share: int) -> float | None:
    """The nearest-rank percentile: the first value that at least `share` percent do not exceed."""
    return sorted(values)[-(-len(values) * share // 100) - 1] if values else None


def _counts(begins: list[datetime], length: timedelta) -> list[tuple[int, int, int]]:
    failed = [status.value for status in STATUS_GROUPS["unsuccessful"]]
    marks = ", ".join(["%s"] * len(failed))
    parts, given = [], []
    for number, at in enumerate(begins):
        between = [_key(at), _key(at + length)]
        parts.append(_COUNT.format(n=number, failed=marks))
        given += [*between, *failed, *between]
    return _fetched(parts, given)


def _durations(begins: list[datetime], length: timedelta) -> list[tuple[int, float]]:
    parts = [_TIMES.format(n=number, sampled=SAMPLED) for number in range(len(begins))]
    return _fetched(parts, [_key(edge) for at in begins for edge in (at, at + length)])


def _key(at: datetime) -> Any:
    return Run._meta.pk.get_db_prep_value(first_id_at(at), connection)


def _fetched(parts: list[str], given: list[Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts), given)
        return list(cursor.fetchall())
