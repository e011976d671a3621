"""How much of limits is used: spent when a call is accepted, booked when it ends.

One row for each limit and persona (or for all personas, where the limit counts them together). Its window
begins with the first call after the one before was over. The database's row lock makes the count exact over
all processes, and what is rolled back was never counted.
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, connection
from django.db.models import F
from django.utils import timezone

from security.facts import LimitFact, Policy
from security.policy.models import Limit, Usage

_NOW = {"postgresql": "statement_timestamp()", "sqlite": "%s"}
_SPEND = """
INSERT INTO policy_usage (limit_id, whose, used, most, ends_at) VALUES {rows}
ON CONFLICT (limit_id, whose) DO UPDATE SET
  used = excluded.used + CASE WHEN policy_usage.ends_at <= {now} THEN 0 ELSE policy_usage.used END,
  ends_at = CASE WHEN policy_usage.ends_at <= {now} THEN excluded.ends_at ELSE policy_usage.ends_at END,
  most = excluded.most
WHERE policy_usage.ends_at <= {now} OR policy_usage.used < excluded.most
RETURNING limit_id
"""

# Rows that are not there yet begin as over, with nothing used.
_LOCK = """
INSERT INTO policy_usage (limit_id, whose, used, most, ends_at)
SELECT one.id, wanted.whose, 0, one.amount, statement_timestamp()
FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (id, whose) JOIN policy_limit one ON one.id = wanted.id
ORDER BY one.id, wanted.whose
ON CONFLICT (limit_id, whose) DO UPDATE SET used = policy_usage.used
"""


class LimitReached(Exception):
    """A limit is used up: takes the caller's transaction back. `told` are the limits and their use."""

    def __init__(self, told: tuple[LimitFact, ...]) -> None:
        super().__init__("A limit is used up.")
        self.told = told


class LimitGone(Exception):
    """A limit was taken away since it was read; nothing was written."""


def limits_spend(limits: Sequence[LimitFact], persona_id: int) -> None:
    """Counts a call against each limit, by one statement in the caller's transaction, or raises LimitReached.

    Limits of time and bytes have to have something left; what a run takes is booked when it ends.
    """
    ordered = sorted(
        limits, key=lambda limit: limit.id
    )  # in one order everywhere: no two wait for each other
    here, rows, values = timezone.now(), [], []
    for limit in ordered:
        rows.append(f"(%s, %s, %s, %s, {_ends()})")
        values += [limit.id, _whose(limit, persona_id), int(limit.measure == "calls"), limit.most]
        values.append(limit.window_s if connection.vendor == "postgresql" else _adapted(here, limit.window_s))
    now = _NOW[connection.vendor]
    nows = [] if connection.vendor == "postgresql" else [_adapted(here)] * 3
    with connection.cursor() as cursor:
        cursor.execute(_SPEND.format(rows=", ".join(rows), now=now), [*values, *nows])
        spent = {row[0] for row in cursor.fetchall()}
    if len(spent) < len(ordered):
        full = [limit for limit in ordered if limit.id not in spent]
        raise LimitReached(tuple(_full(limit) for limit in usage_told(full, persona_id)))


def usage_lock(
    limits: Iterable[LimitFact], persona_id: int, booked: Sequence[Sequence[Any]] | None = None
) -> None:
    """Locks all rows that one transaction is to spend from and to book on, in the order of everywhere.

    Where each step would take its own rows in turn, two transactions could wait for each other.
    """
    rows = {(limit.id, _whose(limit, persona_id)) for limit in limits}
    if not rows or connection.vendor != "postgresql":  # SQLite has one writer at a time
        return
    rows |= {(limit_id, whose) for limit_id, whose, _ in booked or ()}
    ids, whose = zip(*sorted(rows), strict=True)
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [list(ids), list(whose)])


@contextlib.contextmanager
def limits_held(limits: Sequence[LimitFact]) -> Iterator[None]:
    """Raises LimitGone for an IntegrityError within it, where a limit was taken away meanwhile.

    Outside of the transaction that spends: databases look at its end.
    """
    try:
        yield
    except IntegrityError as error:
        if Limit.objects.filter(pk__in=[limit.id for limit in limits]).count() < len(limits):
            raise LimitGone("A limit was taken away.") from error
        raise


def _full(limit: LimitFact) -> LimitFact:
    """As it was when it refused, also where its window ended since."""
    return replace(limit, used=max(limit.used or 0, limit.most), ends_at=limit.ends_at or timezone.now())


def usage_book(booked: Sequence[Sequence[Any]], *, duration_ms: float, size: int) -> None:
    """Adds what a run took to windows that go on. `booked` are its limits: `[id, whose, measure]`."""
    cost = {"seconds": round(duration_ms), "bytes": size}
    for limit_id, whose, measure in sorted(booked, key=tuple):
        row = Usage.objects.filter(limit_id=limit_id, whose=whose, ends_at__gt=timezone.now())
        row.update(used=F("used") + cost[measure])


def booked_later(limits: Sequence[LimitFact], persona_id: int) -> list[list[Any]] | None:
    """What `usage_book` takes, for limits whose measure is known when a run ends; None without any."""
    later = [limit for limit in limits if limit.measure != "calls"]
    return [[limit.id, _whose(limit, persona_id), limit.measure] for limit in later] or None


Used = Mapping[tuple[int, int], Usage]


def usage_read(limits: Iterable[int], personas: Iterable[int]) -> Used:
    """What is used of limits by personas, and by all together, by limit and whose."""
    ids = list(limits)
    rows = Usage.objects.filter(limit__in=ids, whose__in=[0, *personas]) if ids else ()
    return {(row.limit_id, row.whose): row for row in rows}


def usage_told(
    limits: Sequence[LimitFact], persona_id: int, found: Used | None = None
) -> tuple[LimitFact, ...]:
    """The limits with what is used of them now; a query unless `found` was read before."""
    if found is None:
        found = usage_read([limit.id for limit in limits], [persona_id])
    now, told = timezone.now(), []
    for limit in limits:
        row = found.get((limit.id, _whose(limit, persona_id)))
        if row is None or row.ends_at <= now:
            told.append(replace(limit, used=0, ends_at=None))
        else:
            told.append(replace(limit, used=row.used, ends_at=row.ends_at))
    return tuple(told)


def policy_told(policy: Policy, persona_id: int) -> Policy:
    """The policy with what is used of its limits; no query where it has none."""
    return replace(policy, limits=usage_told(policy.limits, persona_id)) if policy.limits else policy


def _whose(limit: LimitFact, persona_id: int) -> int:
    return 0 if limit.together else persona_id


def _ends() -> str:
    if connection.vendor == "postgresql":
        return "statement_timestamp() + make_interval(secs => %s)"
    return "%s"


def _adapted(at: datetime, more_s: int = 0) -> Any:
    return connection.ops.adapt_datetimefield_value(at + timedelta(seconds=more_s))
