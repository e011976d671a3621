"""The counters: one row for each limit and key, taken from under the row's lock before anything is tried.

A try counts before it is made, so that many at the same time do not pass together; a right one is given
back. A try that has to wait counts nothing and writes nothing. Keys are digests: the rows name nobody. Times
are the database's, so that the clocks of web machines do not matter.
"""

import hashlib
import math
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from security.guessing.limits import Limit
from security.models import Tries

BATCH = 10_000
Counted = tuple[Limit, str]


def tries_take(counted: Sequence[Counted]) -> int:
    """Count one try against each pair of limit and key, and return 0.

    Where one of them has to wait, count none and return the seconds.
    """
    limits = {_digest(limit, key): limit for limit, key in counted}
    with transaction.atomic():
        rows = _locked(limits)
        if wait := _wait(rows):
            return wait
        missing = [key for key in limits if key not in {row.key for row in rows}]
        if missing:
            Tries.objects.bulk_create([Tries(key=key) for key in sorted(missing)], ignore_conflicts=True)
            rows = _locked(limits)
            if wait := _wait(rows):
                return wait
        for row in rows:
            _count(row, limits[row.key])
        Tries.objects.bulk_update(rows, ["level", "counted_at", "free_at", "ends_at"])
    return 0


def tries_return(counted: Sequence[Counted], *, forgive: Iterable[Limit] = ()) -> None:
    """Give a try back that was right. Counters of limits in `forgive` begin again."""
    limits = {_digest(limit, key): limit for limit, key in counted}
    forgiven = [key for key, limit in limits.items() if limit in set(forgive)]
    with transaction.atomic():
        Tries.objects.filter(key__in=forgiven).delete()
        rows = _locked([key for key in limits if key not in forgiven])
        for row in rows:
            row.level = max(0.0, row.level - 1)
            row.free_at = row.now
        Tries.objects.bulk_update(rows, ["level", "free_at"])


def tries_wait(counted: Sequence[Counted]) -> int:
    """Return the seconds to wait, and count nothing."""
    keys = [_digest(limit, key) for limit, key in counted]
    return _wait(list(Tries.objects.filter(key__in=keys).annotate(now=Now())))


def tries_expire() -> int:
    """Delete counters that hold nobody any more. Return how many."""
    old = Tries.objects.filter(ends_at__lt=Now()).order_by("ends_at").values_list("key", flat=True)
    return Tries.objects.filter(key__in=list(old[:BATCH])).delete()[0]


def _digest(limit: Limit, key: str) -> str:
    return hashlib.sha256(f"{limit.name}\0{key}".encode("utf-8", "replace")).hexdigest()


def _locked(keys: Iterable[str]) -> list[Any]:
    """The rows with the database's time as `now`, in one order: no two transactions wait for each other."""
    rows = Tries.objects.select_for_update().filter(key__in=list(keys))
    return list(rows.annotate(now=Now()).order_by("key"))


def _wait(rows: Sequence[Any]) -> int:
    left: list[float] = [(row.free_at - row.now).total_seconds() for row in rows]
    return math.ceil(max((0.0, *left)))


def _count(row: Any, limit: Limit) -> None:
    now: datetime = row.now
    since = max(0.0, (now - row.counted_at).total_seconds())
    row.level = min(max(0.0, row.level - since / limit.forget_s) + 1, limit.level_max)
    over = row.level - limit.free + 1
    seconds = 0 if over <= 0 else min(limit.most_s, limit.first_s * 2 ** max(0, math.ceil(over) - 1))
    row.counted_at, row.free_at = now, now + timedelta(seconds=seconds)
    row.ends_at = max(row.free_at, now + timedelta(seconds=row.level * limit.forget_s))
