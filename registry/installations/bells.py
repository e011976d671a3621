"""The doorbell of installations: a message without content; the steward rings again when one is lost."""

import logging

from celery import current_app
from django.conf import settings
from django.db import transaction
from kombu.exceptions import KombuError, OperationalError

log = logging.getLogger(__name__)
BELL = "toolhub.install"
EXPIRES_S = 60


def ring() -> bool:
    """Tells an idle worker of the queue `install`; false when the broker does not answer."""
    name = f"{settings.QUEUE_PREFIX}install"
    try:
        current_app.send_task(BELL, queue=name, expires=EXPIRES_S, retry=False, ignore_result=True)
    except (OperationalError, KombuError, OSError) as error:
        log.warning("the broker does not answer (%s); the steward rings later", type(error).__name__)
        return False
    return True


def ring_after_commit() -> None:
    """Rings when the transaction has committed."""
    transaction.on_commit(ring)
