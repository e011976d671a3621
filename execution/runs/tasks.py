"""Celery's way in: one task, and no rule in it."""

from celery import shared_task
from django.db import close_old_connections

from execution.runs.bells import BELL
from execution.runs.worker import queue_work


@shared_task(name=BELL, ignore_result=True)
def bell(queue: str) -> None:
    """Somebody rang for the queue: carry out what is due in it."""
    close_old_connections()
    queue_work(queue)
