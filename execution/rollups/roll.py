"""Making rollups: the steward's duty."""

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.utils import timezone

from core.counts import counts_read
from core.duties.rows import all_or_each, each_of
from execution.engine.selectors import STATUS_GROUPS
from execution.models import Run
from execution.rollups.count import Figures, Owners, Piece, counted_by_owners, within
from execution.rollups.models import HALF_HOUR, Rollup, RollupPart
from security.sharing.owned import owner_changes

# As far back as charts reach, and a little more.
KEPT = timedelta(days=8)
# A run is in the database so long after the moment in its id, by whatever clock that was read.
SETTLES = timedelta(minutes=5)
TURN_S = 0.5
# What is everybody's has a part in each half-hour.
NOBODYS: Owners = (None, None, None)


def rollups_keep() -> int:
    """The steward's duty: makes what is missing and what does not hold any more, the newest first.

    For half a second, or one; returns how many. What is older than eight days goes.
    """
    now, ends = timezone.now(), time.monotonic() + TURN_S
    all_or_each("rollups", Rollup.objects.filter(begins_at__lt=now - KEPT), _rollups_delete)
    return each_of("half-hours", _wanting(now), rollup_write, until=ends)


def _rollups_delete(begins: Sequence[datetime]) -> int:
    RollupPart.objects.filter(rollup__in=begins).delete()
    return Rollup.objects.filter(pk__in=begins).delete()[0]


def rollup_write(begin: datetime) -> int:
    """Counts a half-hour, in place of what was counted before."""
    # Asked first: an owner that is set meanwhile makes it old at once.
    changes = owner_changes().count()
    parts = {NOBODYS: Figures(), **counted_by_owners(Piece(begin, begin + HALF_HOUR))}
    whole = Figures()
    for part in parts.values():
        whole.add(part)
    with transaction.atomic():
        RollupPart.objects.filter(rollup=begin).delete()
        Rollup.objects.filter(begins_at=begin).delete()
        rollup = Rollup.objects.create(begins_at=begin, open=whole.open, owners=changes, **_columns(whole))
        RollupPart.objects.bulk_create(
            RollupPart(
                rollup=rollup, tool_team=tool, package_team=package, persona_team=persona, **_columns(part)
            )
            for (tool, package, persona), part in parts.items()
        )
    return 1


def _columns(figures: Figures) -> dict[str, object]:
    return {
        "calls": figures.calls,
        "completed": figures.completed,
        "unsuccessful": figures.unsuccessful,
        "times": figures.times,
        "tools": {name: [count, figures.failed.get(name, 0)] for name, count in figures.tools.items()},
    }


def _wanting(now: datetime) -> list[datetime]:
    """The half-hours that are over and have no rollup that holds, the newest first."""
    first = Run.objects.order_by("pk").values_list("pk", flat=True).first()
    if first is None:
        return []
    made = datetime.fromtimestamp((first.int >> 80) / 1000, UTC)
    begin = half_hour(max(made, now - KEPT + HALF_HOUR))
    changes = owner_changes().count()
    there = {row.begins_at: row for row in Rollup.objects.only("begins_at", "open", "owners")}
    old = reopened({at: row.open for at, row in there.items()})
    old |= {at for at, row in there.items() if row.owners != changes}
    count = (half_hour(now - SETTLES) - begin) // HALF_HOUR
    every = [begin + HALF_HOUR * number for number in reversed(range(count))]
    return [at for at in every if at in old or at not in there]


def half_hour(at: datetime) -> datetime:
    """The beginning of the half-hour that the moment is in."""
    return at - (at - datetime.fromtimestamp(0, UTC)) % HALF_HOUR


def reopened(opens: Mapping[datetime, int]) -> set[datetime]:
    """Of half-hours with how many runs were open, those in which one has got its outcome since.

    An outcome is final and no run comes into a half-hour that is over, so that the numbers only fall: where
    they are the same in all, they are in each. One query, or two; none where nothing was open.
    """
    if not any(opens.values()):
        return set()
    still = Run.objects.filter(status__in=STATUS_GROUPS["open"]).order_by()
    # Of just these: a half-hour between them may have open runs of its own.
    pieces = [Piece(at, at + HALF_HOUR) for at in sorted(opens)]
    if still.filter(within(pieces)).count() == sum(opens.values()):
        return set()
    had = {at: count for at, count in opens.items() if count}
    now = counts_read([still.filter(within([Piece(at, at + HALF_HOUR)])) for at in had])
    return {at for (at, before), count in zip(had.items(), now, strict=True) if count != before}
