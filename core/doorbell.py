"""The doorbell: a Celery message that says that something is due in a queue, never what."""

import logging
from collections.abc import Sequence

from celery import current_app
from django.conf import settings
from kombu.exceptions import KombuError, OperationalError

log = logging.getLogger(__name__)


def bell_send(task: str, queue: str, words: Sequence[str] = ()) -> bool:
    """Tells one idle worker of the queue; false when the broker does not answer.

    It never expires: Celery would compare this clock with the worker's, which may differ by hours.
    """
    name = f"{settings.QUEUE_PREFIX}{queue}"
    try:
        current_app.send_task(task, args=list(words), queue=name, retry=False, ignore_result=True)
    except (OperationalError, KombuError, OSError) as error:
        log.warning("the broker does not answer (%s); the steward rings later", type(error).__name__)
        return False
    return True
