"""Celery's way in: one task, and no rule in it."""

import mmap

from celery import shared_task
from celery.signals import worker_shutting_down
from django.db import close_old_connections

from execution.engine.bells import BELL
from execution.engine.perform import queue_work

# Whether the worker ends: a byte that it shares with the processes which it forks.
_ENDS = mmap.mmap(-1, 1)


@worker_shutting_down.connect
def end(**_: object) -> None:
    """Who works finishes the run at hand, and begins no other."""
    _ENDS[0] = 1


@shared_task(name=BELL, ignore_result=True)
def bell(queue: str) -> None:
    """Somebody rang for the queue: carry out what is due in it."""
    close_old_connections()
    queue_work(queue, is_over=lambda: bool(_ENDS[0]))
