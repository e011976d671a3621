"""The app's registration with Django."""

from django.apps import AppConfig


class OutboxConfig(AppConfig):
    name = "core.outbox"
    label = "outbox"
