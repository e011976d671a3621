"""The Celery app. Celery is the doorbell only: the rows say what is to be done."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolhub.settings")

app = Celery("toolhub")
app.config_from_object("toolhub.celery_config")
app.autodiscover_tasks(["execution.runs", "registry.installations"])
