"""The doorbell: a Celery message that names a queue, never a run.

Lost, doubled or late bells change nothing but the time: the steward rings again.
"""

import logging
import time
from dataclasses import dataclass, field

from celery import current_app
from django.conf import settings
from django.db.models import Count
from django.db.models.functions import Now
from kombu.exceptions import KombuError, OperationalError

from execution.models import Run, Status

log = logging.getLogger(__name__)

BELL = "toolhub.bell"
# What was rung so long ago and changed nothing may be lost: it is rung again.
AGAIN_S = 15


def ring(queue: str) -> bool:
    """Tells one idle worker of the queue that something is due; false when the broker does not answer."""
    name = f"{settings.QUEUE_PREFIX}{queue}"
    try:
        # It never expires: Celery would compare this clock with the worker's, which may differ by hours.
        current_app.send_task(BELL, args=[queue], queue=name, retry=False, ignore_result=True)
    except (OperationalError, KombuError, OSError) as error:
        log.warning("the broker does not answer (%s); the steward rings later", type(error).__name__)
        return False
    return True


@dataclass
class Bells:
    """Tops the bells up to min(due, slots) per queue, without ringing on while nobody could hear.

    A bell of ours counts as outstanding until the number of due runs fell below it, or it got old.
    """

    slots: int
    _rung: dict[str, tuple[int, float]] = field(default_factory=dict)

    def top_up(self) -> int:
        """Rings; returns how many bells."""
        rows = (
            Run.objects.filter(status=Status.PENDING, inline=False, due_at__lte=Now())
            .order_by()
            .values("queue")
            .annotate(due=Count("pk"))
        )
        due = {row["queue"]: row["due"] for row in rows}
        self._rung = {queue: known for queue, known in self._rung.items() if queue in due}
        return sum(self._ring(queue, many) for queue, many in due.items())

    def _ring(self, queue: str, due: int) -> int:
        now = time.monotonic()
        wanted = min(due, self.slots)
        outstanding, at = self._rung.get(queue, (0, 0.0))
        outstanding = 0 if now - at > AGAIN_S else min(outstanding, due)
        missing = max(0, wanted - outstanding)
        rung = sum(ring(queue) for _ in range(missing))
        if rung:
            self._rung[queue] = (outstanding + rung, now)
        return rung
