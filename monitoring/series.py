"""Calls, errors and times taken, over time."""

import json
from collections.abc import Sequence
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

# Both go step by step along the ids, which are ordered by time: counts come from indexes alone. The steps are
# rows, so that a statement of what a person sees is planned once.
_STEPS = "WITH step (n, since, until) AS (VALUES {steps}) "
_COUNT = (
    "SELECT n, (SELECT COUNT(*) FROM {runs} WHERE id >= since AND id < until), "
    "(SELECT COUNT(*) FROM {runs} WHERE status IN ({failed}) AND id >= since AND id < until) FROM step"
)
_TIMES = (
    "SELECT n, (SELECT {listed}(duration_ms) FROM (SELECT duration_ms FROM {runs} WHERE id >= since "
    "AND id < until AND duration_ms IS NOT NULL ORDER BY id DESC LIMIT {sampled}) AS newest) FROM step"
)
# What makes one list of a step's times: an array, or JSON.
_LISTED = {"postgresql": "array_agg", "sqlite": "json_group_array"}


# What runs are read from, and its parameters.
Seen = tuple[str, tuple[Any, ...]]
# The id from which a step's runs begin, and that from which the next's do.
Bounds = tuple[Any, Any]


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
    bounds = [(_key(at), _key(at + length)) for at in begins]
    counts = {row[0]: row[1:] for row in _counts(bounds, seen)}
    times = _durations(bounds, seen)
    return [
        Step(at, *counts[number], *(_rank(times[number], share) for share in (50, 95)))
        for number, at in enumerate(begins)
    ]


def _rank(values: list[float], share: int) -> float | None:
    """The nearest-rank percentile: the first value that at least `share` percent do not exceed."""
    return sorted(values)[-(-len(values) * share // 100) - 1] if values else None


def _counts(bounds: list[Bounds], seen: Seen) -> list[tuple[int, int, int]]:
    failed = [status.value for status in STATUS_GROUPS["unsuccessful"]]
    marks = ", ".join(["%s"] * len(failed))
    statement = _COUNT.format(failed=marks, runs=seen[0])
    return _fetched(statement, bounds, [*seen[1], *seen[1], *failed])


def _durations(bounds: list[Bounds], seen: Seen) -> dict[int, list[float]]:
    statement = _TIMES.format(listed=_LISTED[connection.vendor], runs=seen[0], sampled=SAMPLED)
    found = _fetched(statement, bounds, seen[1])
    return {n: json.loads(times) if isinstance(times, str) else times or [] for n, times in found}


def _seen(by: User) -> Seen:
    """The table of runs; for who does not see them all, a statement in its place."""
    rows = runs_seen(by)
    if not rows.query.where:
        return "execution_run", ()
    statement, given = rows.values("id", "status", "duration_ms").query.sql_with_params()
    return f"({statement}) AS seen", tuple(given)


def _key(at: datetime) -> Any:
    return Run._meta.pk.get_db_prep_value(first_id_at(at), connection)


def _fetched(statement: str, bounds: list[Bounds], given: Sequence[Any]) -> list[Any]:
    ids = "CAST(%s AS uuid), CAST(%s AS uuid)" if connection.vendor == "postgresql" else "%s, %s"
    steps = ", ".join(f"({number}, {ids})" for number in range(len(bounds)))
    with connection.cursor() as cursor:
        asked = _STEPS.format(steps=steps) + statement
        cursor.execute(asked, [*(one for pair in bounds for one in pair), *given])
        return list(cursor.fetchall())
