"""Celery's settings, made from Django's: early acknowledgement, no results, prefetch 1, no remote control.

Celery imports this module by name when the app is first used.
"""

from django.conf import settings
from kombu import Queue

import core.spool  # noqa: F401 - registers embedded://
from execution.engine.queues import DEFAULT
from execution.engine.queues import QUEUES as RUN_QUEUES
from registry.installations.bells import QUEUE as INSTALL

QUEUES = (*RUN_QUEUES, INSTALL)
EMBEDDED = settings.BROKER_URL.startswith("embedded:")

broker_url = "embedded://localhost" if EMBEDDED else settings.BROKER_URL
broker_transport_options = (
    {"folder": str(settings.DATA / "spool")}
    if EMBEDDED
    else {"max_retries": 1, "interval_start": 0, "socket_connect_timeout": 2}
)
broker_connection_timeout = 2
broker_connection_retry_on_startup = True
task_ignore_result = True
task_acks_late = False
task_publish_retry = False
task_default_queue = f"{settings.QUEUE_PREFIX}{DEFAULT}"
task_queues = [Queue(f"{settings.QUEUE_PREFIX}{name}") for name in QUEUES]
worker_prefetch_multiplier = 1
worker_enable_remote_control = False
worker_send_task_events = False
worker_hijack_root_logger = False
worker_cancel_long_running_tasks_on_connection_loss = False
# Workers keep their database connection: a new one cost 12.6 ms per task.
CELERY_DB_REUSE_MAX = 1_000_000_000
