"""Rows of a duty, each for itself: one that fails stops no other, and is parked if it keeps failing."""

import logging
import math
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from typing import Any

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from core.duties.models import FailedRow
from core.errors import ToolHubError

log = logging.getLogger(__name__)
BATCH = 100
# A row is parked after this many failures in a row: for a minute, then twice as long each time.
FAILURES = 3
PARKED = timedelta(minutes=1)
PARKED_MAX = timedelta(days=1)
ERROR_MAX = 300
Key = Any


def each(
    duty: str, rows: QuerySet[Any], act: Callable[[Key], int], *, most: int | None = None, atomic: bool = True
) -> int:
    """Call `act` with each row's primary key, each in a separate transaction; return the sum of its results.

    It takes `most` rows, or BATCH; rows that are parked do not count. A row at which `act` raises is
    recorded, and parked after FAILURES times. With `atomic` false `act` makes its transactions. Raises the
    database's error when the database is away.
    """
    keys = _due(duty, rows, most)
    known = _failures(duty, keys)
    return sum(_one(duty, key, act, atomic=atomic, failed=str(key) in known) for key in keys)


def each_of(duty: str, keys: Iterable[Key], act: Callable[[Key], int], *, until: float = math.inf) -> int:
    """As `each`, for keys that no query gives; it begins no further one after `until` (time.monotonic)."""
    every = list(keys)
    apart, known = set(parked(duty)) if every else set(), _failures(duty, every)
    total = 0
    for key in every:
        if str(key) not in apart:
            total += _one(duty, key, act, atomic=True, failed=str(key) in known)
            if time.monotonic() > until:
                break
    return total


def all_or_each(
    duty: str, rows: QuerySet[Any], act: Callable[[Sequence[Key]], int], *, most: int | None = None
) -> int:
    """Do `act` for all rows together; where that fails, for each row as `each` does."""
    keys = _due(duty, rows, most)
    if not keys:
        return 0
    known = _failures(duty, keys)
    if not known:
        try:
            with transaction.atomic():
                return act(keys)
        except Exception as error:  # noqa: BLE001 - the rows one by one show which it is
            _raise_if_away(error)
            log.warning("duty %s: %d rows fail together (%s), so each is done alone", duty, len(keys), error)
    return sum(_one(duty, key, lambda key: act([key]), atomic=True, failed=str(key) in known) for key in keys)


def parked(duty: str) -> list[str]:
    """The keys of rows that a duty leaves alone for now."""
    return list(FailedRow.objects.filter(duty=duty, due_at__gt=timezone.now()).values_list("key", flat=True))


def _due(duty: str, rows: QuerySet[Any], most: int | None) -> list[Key]:
    most = BATCH if most is None else most
    keys = list(rows.values_list("pk", flat=True)[:most])
    if not keys:
        return []
    apart = set(parked(duty))
    if apart.isdisjoint(map(str, keys)):
        return keys
    # Those that are parked shall not fill the batch.
    field = rows.model._meta.pk
    return list(rows.exclude(pk__in=map(field.to_python, apart)).values_list("pk", flat=True)[:most])


def _failures(duty: str, keys: Sequence[Key]) -> set[str]:
    """Which of the rows have failed before."""
    if not keys:
        return set()
    found = FailedRow.objects.filter(duty=duty, key__in=list(map(str, keys)))
    return set(found.values_list("key", flat=True))


def _one(duty: str, key: Key, act: Callable[[Key], int], *, atomic: bool, failed: bool) -> int:
    here: AbstractContextManager[Any] = transaction.atomic() if atomic else nullcontext()
    try:
        with here:
            done = act(key)
    except Exception as error:
        _raise_if_away(error)
        log.exception("duty %s failed at row %s", duty, key)
        _failed(duty, str(key), error)
        return 0
    if failed:
        FailedRow.objects.filter(duty=duty, key=str(key)).delete()
    return int(done)


def _failed(duty: str, key: str, error: Exception) -> None:
    now = timezone.now()
    with transaction.atomic():
        row, is_first = FailedRow.objects.get_or_create(
            duty=duty, key=key, defaults={"error": error_text(error), "first_at": now, "failed_at": now}
        )
        if is_first:
            return
        row.failures += 1
        row.error, row.failed_at = error_text(error), now
        over = row.failures - FAILURES
        row.due_at = now if over < 0 else now + min(PARKED * 2 ** min(over, 20), PARKED_MAX)
        row.save()


def _raise_if_away(error: Exception) -> None:
    """Raise the error where no other row would go better."""
    is_away = isinstance(error, OperationalError) and connection.vendor == "sqlite"
    if is_away or isinstance(error, InterfaceError):
        raise error
    if isinstance(error, OperationalError) and not connection.is_usable():
        raise error


def error_text(error: BaseException) -> str:
    """What went wrong, in one line that the record can hold."""
    text = error.message if isinstance(error, ToolHubError) else str(error)
    name = error.code if isinstance(error, ToolHubError) else type(error).__name__
    return " ".join(f"{name}: {text}".replace("\0", "").split())[:ERROR_MAX]


def delete(duty: str, rows: QuerySet[Any], *, most: int = 1000) -> int:
    """Delete all rows, `most` at a time; return how many objects went.

    A row that has changed since it was found, so that the query no longer has it, stays.
    """
    total, gone = 0, most
    # A row that fails is not tried again in the same turn.
    while gone >= most:
        gone = all_or_each(duty, rows, lambda keys: int(rows.filter(pk__in=keys).delete()[0]), most=most)
        total += gone
    return total
