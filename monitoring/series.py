"""Calls, errors and times taken, over time."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from execution.rollups.count import Figures, Piece
from execution.rollups.read import figures_read
from execution.rollups.times import percentile
from security.models import User

# Hours shown, and the seconds of one step.
WINDOWS = {1: 60, 24: 1800, 168: 14_400}


@dataclass(frozen=True)
class Step:
    """What happened between `at` and the next step. Times taken are in ms, None where nothing ended."""

    at: datetime
    calls: int
    errors: int
    p50_ms: float | None
    p95_ms: float | None


def series(hours: int, by: User, now: datetime | None = None) -> list[Step]:
    """The steps of the last `hours` (of WINDOWS), oldest first; empty steps are there, too.

    Of runs that the person sees.
    """
    length = timedelta(seconds=WINDOWS[hours])
    now = now or timezone.now()
    last = now - (now - datetime.fromtimestamp(0, now.tzinfo)) % length
    begins = [last - length * back for back in reversed(range(timedelta(hours=hours) // length))]
    pieces = [Piece(at, at + length, number) for number, at in enumerate(begins)]
    found = figures_read(by, pieces, "times")
    return [_told(at, found.get(number, Figures())) for number, at in enumerate(begins)]


def _told(at: datetime, seen: Figures) -> Step:
    p50, p95 = (percentile(seen.times, share) for share in (50, 95))
    return Step(at, seen.calls, seen.unsuccessful, p50, p95)
