"""The project's own registration with Django: its commands and checks."""

from django.apps import AppConfig


class ToolhubConfig(AppConfig):
    name = "toolhub"

    def ready(self) -> None:
        """Loads the system checks."""
        from toolhub import checks  # noqa: F401, PLC0415  (checks may import models only once apps are ready)
