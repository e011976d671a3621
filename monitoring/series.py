"""Calls, errors and times taken, over time: one bounded query."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection
from django.utils import timezone

from execution.models import Run
from execution.runs.selectors import STATUS_GROUPS, first_id_at

# Hours shown, and the seconds of one step.
WINDOWS = {1: 60, 24: 1800, 168: 14_400}
# The newest runs that are looked at; what was before them is not shown rather than shown too low.
MOST = 200_000

# Bucket, calls, errors, p50 and p95.
Counted = tuple[int, int, int, float | None, float | None]

_EPOCH = {
    "postgresql": "CAST(FLOOR(EXTRACT(EPOCH FROM created_at) / %s) AS BIGINT)",
    "sqlite": "CAST(strftime('%%s', created_at) AS INTEGER) / %s",
}
# Nearest-rank percentiles: the first duration of which the wanted share is not above.
_QUERY = """
WITH recent AS (
  SELECT {bucket} AS bucket, CASE WHEN status IN ({failed}) THEN 1 ELSE 0 END AS failed, duration_ms
  FROM execution_run WHERE id >= %s ORDER BY id DESC LIMIT %s
), ranked AS (
  SELECT bucket, failed, duration_ms,
    ROW_NUMBER() OVER (PARTITION BY bucket, duration_ms IS NULL ORDER BY duration_ms) AS place,
    COUNT(duration_ms) OVER (PARTITION BY bucket) AS timed
  FROM recent
)
SELECT bucket, COUNT(*), SUM(failed),
  MIN(CASE WHEN place * 100 >= timed * 50 THEN duration_ms END),
  MIN(CASE WHEN place * 100 >= timed * 95 THEN duration_ms END)
FROM ranked GROUP BY bucket ORDER BY bucket
"""


@dataclass(frozen=True)
class Step:
    """What happened between `at` and the next step. Times taken are in ms, None where nothing ended."""

    at: datetime
    calls: int
    errors: int
    p50_ms: float | None
    p95_ms: float | None


def series(hours: int, now: datetime | None = None) -> list[Step]:
    """The steps of the last `hours` (of WINDOWS), oldest first; empty steps are there, too."""
    seconds = WINDOWS[hours]
    now = now or timezone.now()
    first = int((now - timedelta(hours=hours)).timestamp()) // seconds + 1
    found = {row[0]: row for row in _rows(datetime.fromtimestamp(first * seconds, now.tzinfo), seconds)}
    begin = first
    if sum(row[1] for row in found.values()) >= MOST:
        # The oldest step that was reached was not read whole.
        begin = min(found) + 1
    last = int(now.timestamp()) // seconds
    return [_step(bucket, seconds, found.get(bucket)) for bucket in range(begin, last + 1)]


def _rows(since: datetime, seconds: int) -> list[Counted]:
    failed = STATUS_GROUPS["unsuccessful"]
    query = _QUERY.format(bucket=_EPOCH[connection.vendor], failed=", ".join(["%s"] * len(failed)))
    key = Run._meta.pk.get_db_prep_value(first_id_at(since), connection)
    with connection.cursor() as cursor:
        cursor.execute(query, [seconds, *(status.value for status in failed), key, MOST])
        rows: list[Counted] = cursor.fetchall()
    return rows


def _step(bucket: int, seconds: int, row: Counted | None) -> Step:
    at = datetime.fromtimestamp(bucket * seconds, timezone.get_current_timezone())
    return Step(at, *row[1:]) if row else Step(at, 0, 0, None, None)
