"""The app's registration with Django."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "audit"
