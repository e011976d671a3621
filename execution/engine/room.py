"""Room in a queue: how many runs may wait, in all and of one persona."""

import threading
import time

from django.conf import settings

from core.errors import Overloaded
from core.shares import share_of
from execution.engine.store import current

RETRY_AFTER_S = 5
# A count is valid for SERVES_S seconds, and for one SHARE-th of the room that it found: other processes
# accept runs as well.
SERVES_S = 0.25
SHARE = 16
# Counts of personas that one process keeps.
KEPT = 1024

# A queue and the settings that bound it; a persona's id where the count is about one persona.
Key = tuple[str, int, int, int | None]


class Room:
    """What this process may accept into each queue without counting again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Places left without counting, and until when (monotonic seconds).
        self._left: dict[Key, tuple[int, float]] = {}

    def take(self, queue: str, persona_id: int, persona: str) -> None:
        """Take a place in a queue for a run of a persona.

        A persona may have as many runs waiting as places are free, and always QUEUE_SHARE. Raises
        Overloaded beyond that. A place that is then not used only makes the next count come sooner: a call
        is refused by a fresh count alone.
        """
        most, least = settings.QUEUE_MAX, settings.QUEUE_SHARE
        everybody: Key = (queue, most, least, None)
        mine: Key = (queue, most, least, persona_id)
        if self._is_left(everybody) or self._is_left(mine):
            return
        waiting, own = current.STORE.waiting_counts(queue, persona_id, most)
        # Below this many waiting runs no persona can be over its share, whoever they belong to.
        calm = max(min(least, most), most // 2) - waiting
        if calm > 0:
            self._keep(everybody, calm)
            return
        share = share_of(most, waiting, least)
        room = share - own
        # Each accepted run takes a place of the persona and, above QUEUE_SHARE, a free one.
        self._keep(mine, room if share <= least else (room + 1) // 2)
        if room <= 0:
            raise _refusal(persona, queue, own, share)

    def _is_left(self, key: Key) -> bool:
        with self._lock:
            left, until = self._left.get(key, (0, 0.0))
            if left <= 0 or time.monotonic() >= until:
                return False
            self._left[key] = left - 1, until
            return True

    def _keep(self, key: Key, room: int) -> None:
        with self._lock:
            if len(self._left) >= KEPT:
                self._left.clear()
            self._left[key] = max(room, 0) // SHARE, time.monotonic() + SERVES_S


ROOM = Room()


def _refusal(persona: str, queue: str, own: int, share: int) -> Overloaded:
    return Overloaded(
        f"{persona} has {own:,} runs waiting in the queue {queue}; its share is {share:,} now.",
        suggestions=[
            f"Repeat after {RETRY_AFTER_S} s, or cancel runs that wait: POST /api/v1/runs/cancel.",
        ],
        data={"persona": persona, "queue": queue, "waiting": own, "share": share},
        retry_after=RETRY_AFTER_S,
    )
