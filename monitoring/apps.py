"""The app's registration with Django."""

from django.apps import AppConfig


class MonitoringConfig(AppConfig):
    name = "monitoring"
