"""The project: settings, addresses, and the processes of a hub."""

from toolhub.celery import app as celery_app

__all__ = ["celery_app"]
