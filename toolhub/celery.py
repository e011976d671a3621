"""The Celery app. Celery is the doorbell only: the rows say what is to be done."""

import os
from typing import Any

from celery import Celery
from kombu import Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolhub.settings")

QUEUES = ("default", "sandbox", "mcp", "install", "monitor")


def celery_config() -> dict[str, Any]:
    """Celery's settings from Django's: early acknowledgement, no results, prefetch 1, no remote control."""
    from django.conf import settings  # noqa: PLC0415  (settings are read when the app is first used)

    config: dict[str, Any] = {
        "broker_url": settings.BROKER_URL,
        "task_ignore_result": True,
        "result_backend": None,
        "task_default_queue": f"{settings.QUEUE_PREFIX}default",
        "task_queues": [Queue(f"{settings.QUEUE_PREFIX}{name}") for name in QUEUES],
        "worker_prefetch_multiplier": 1,
        "task_acks_late": False,
        "worker_enable_remote_control": False,
        "worker_send_task_events": False,
        "worker_hijack_root_logger": False,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "broker_connection_retry_on_startup": True,
        "broker_connection_timeout": 2,
        "broker_transport_options": {"max_retries": 1, "interval_start": 0, "socket_connect_timeout": 2},
        "task_publish_retry": False,
        # Workers keep their database connection: a new one cost 12.6 ms per task.
        "CELERY_DB_REUSE_MAX": 1_000_000_000,
    }
    if settings.BROKER_URL.startswith("embedded:"):
        config["broker_url"] = "core.spool:Transport://localhost"
        config["broker_transport_options"] = {"folder": str(settings.DATA / "spool")}
    return config


app = Celery("toolhub")
app.config_from_object(celery_config)
app.autodiscover_tasks(["execution.runs"])
