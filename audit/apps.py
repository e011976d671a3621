"""The app's registration with Django."""

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class AuditConfig(AppConfig):
    name = "audit"

    def ready(self) -> None:
        """Read each app's module `event_kinds`, where it declares the kinds of events that it writes."""
        autodiscover_modules("event_kinds")
