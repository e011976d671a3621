"""How much of limits is used: spent when a call is accepted, booked when it ends.

One row for each limit and persona (or for all personas, where the limit counts them together). Its window
begins with the first call after the one before was over. The database's row lock makes the count exact over
all processes, and what is rolled back was never counted.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import F
from django.utils import timezone

from security.facts import LimitFact, Policy
from security.policy.models import Limit, Usage

_NOW = {"postgresql": "statement_timestamp()", "sqlite": "%s"}
# By a join with the limits: one that was taken away is not counted, and none is taken away before the commit.
_SPEND = """
INSERT INTO policy_usage (limit_id, whose, used, most, ends_at)
SELECT one.id, wanted.column2, wanted.column3, wanted.column4, wanted.column5
FROM (VALUES {rows}) AS wanted JOIN policy_limit one ON one.id = wanted.column1 WHERE true {held}
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


@dataclass(frozen=True)
class Reached:
    """Limits that are used up, with their use: nothing may be spent."""

    told: tuple[LimitFact, ...]


@dataclass(frozen=True)
class Gone:
    """A limit was taken away since it was read: what holds now decides."""


def limits_spend(limits: Sequence[LimitFact], persona_id: int) -> Reached | Gone | None:
    """Count a call against each limit, by one statement in the caller's transaction.

    Limits of time and bytes have to have something left; what a run takes is booked when it ends. Where the
    call may not be counted, the caller takes its transaction back.
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
        held = "FOR KEY SHARE OF one" if connection.vendor == "postgresql" else ""
        cursor.execute(_SPEND.format(rows=", ".join(rows), now=now, held=held), [*values, *nows])
        spent = {row[0] for row in cursor.fetchall()}
    if len(spent) == len(ordered):
        return None
    full = [limit for limit in ordered if limit.id not in spent]
    if Limit.objects.filter(pk__in=[limit.id for limit in full]).count() < len(full):
        return Gone()
    return Reached(tuple(_full(limit) for limit in usage_told(full, persona_id)))


Key = tuple[int, int]
"""A row of usage: the limit, and whose use of it."""


def usage_keys(limits: Iterable[LimitFact], persona_id: int) -> set[Key]:
    """The rows from which a call with these limits spends."""
    return {(limit.id, _whose(limit, persona_id)) for limit in limits}


def booked_keys(booked: Sequence[Sequence[Any]] | None) -> set[Key]:
    """The rows on which a run books what it took."""
    return {(limit_id, whose) for limit_id, whose, _ in booked or ()}


def usage_rows_lock(keys: Sequence[Key]) -> None:
    """Lock all rows that one transaction is to spend from and to book on, given in order.

    Where each step took its own rows in turn, two transactions could wait for each other.
    """
    if not keys or connection.vendor != "postgresql":  # SQLite has one writer at a time
        return
    ids, whose = zip(*keys, strict=True)
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [list(ids), list(whose)])


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
