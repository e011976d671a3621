"""The app's registration with Django."""

from django.apps import AppConfig


class SecurityConfig(AppConfig):
    name = "security"

    def ready(self) -> None:
        """Makes the authentication known to the API's description."""
        from security import openapi  # noqa: F401, PLC0415 - it imports DRF, which wants the apps ready
