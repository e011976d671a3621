"""Celery's way in: one task, and no rule in it."""

from celery import shared_task
from django.db import close_old_connections

from registry.installations.bells import BELL
from registry.installations.worker import installations_work


@shared_task(name=BELL, ignore_result=True)
def install() -> None:
    """Somebody rang: carry out what is queued."""
    close_old_connections()
    installations_work()
