"""The doorbell of installations: a message without content; the steward rings again when one is lost."""

import time
from dataclasses import dataclass

from django.db import transaction

from core.doorbell import bell_send

BELL = "toolhub.install"
QUEUE = "install"
# What was rung so long ago and changed nothing may be lost: it is rung again.
AGAIN_S = 15.0


def ring() -> bool:
    """Tells an idle worker of the queue `install`; false when the broker does not answer."""
    return bell_send(BELL, QUEUE)


def ring_after_commit() -> None:
    """Rings when the transaction has committed."""
    transaction.on_commit(ring)


@dataclass
class Reminder:
    """Rings again for what stays queued, without filling the broker while nobody could hear."""

    rung: float = float("-inf")

    def ring_after_commit(self) -> None:
        """Rings, unless it did so within the last AGAIN_S seconds."""
        if time.monotonic() - self.rung >= AGAIN_S:
            self.rung = time.monotonic()
            ring_after_commit()
