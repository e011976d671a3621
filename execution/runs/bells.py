"""The doorbell: a Celery message that names a queue, never a run.

Lost, doubled or late bells change nothing but the time: the steward rings again.
"""

import logging

from celery import current_app
from django.conf import settings
from kombu.exceptions import KombuError, OperationalError

log = logging.getLogger(__name__)

BELL = "toolhub.bell"
# A bell that nobody heard for so long is stale: the steward has rung again since.
EXPIRES_S = 60


def ring(queue: str) -> bool:
    """Tells one idle worker of the queue that something is due; false when the broker does not answer."""
    name = f"{settings.QUEUE_PREFIX}{queue}"
    try:
        current_app.send_task(
            BELL, args=[queue], queue=name, expires=EXPIRES_S, retry=False, ignore_result=True
        )
    except (OperationalError, KombuError, OSError) as error:
        log.warning("the broker does not answer (%s); the steward rings later", type(error).__name__)
        return False
    return True
