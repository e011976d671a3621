"""The project's own registration with Django: its commands and checks."""

import gc

from django.apps import AppConfig


class ToolhubConfig(AppConfig):
    name = "toolhub"

    def ready(self) -> None:
        """Loads the system checks. What is loaded now stays: it is never looked through for garbage."""
        from toolhub import checks  # noqa: F401, PLC0415  (checks may import models only once apps are ready)

        gc.freeze()
        gc.enable()
