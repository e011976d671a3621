"""Times taken, counted in buckets that can be added up; a percentile read from them is right within 1 %.

Each bucket ends 2 % above the one before, and is told by the middle of it (DDSketch, arXiv 1908.10693 §2).
"""

import math
from collections.abc import Mapping

from django.db.models import Case, F, IntegerField, Value, When
from django.db.models.functions import Cast, Ceil, Ln

GROWTH = 1.02
# Shorter times, in ms, are counted as this one.
LEAST = 0.001
_FIRST = math.ceil(math.log(LEAST) / math.log(GROWTH))


def bucket() -> Case:
    """The bucket of a run's time, within a query; null where it has none."""
    number = Ceil(Ln(F("duration_ms")) / Value(math.log(GROWTH)))
    return Case(
        When(duration_ms__lte=LEAST, then=Value(_FIRST)),
        default=Cast(number, IntegerField()),
        output_field=IntegerField(),
    )


def percentile(times: Mapping[str, int], share: int) -> float | None:
    """The time in ms that `share` percent do not exceed, by the nearest rank; None without any."""
    rank = -(-sum(times.values()) * share // 100)
    for number in sorted(map(int, times)):
        rank -= times[str(number)]
        if rank <= 0:
            return 2 * math.pow(GROWTH, number) / (GROWTH + 1)
    return None
