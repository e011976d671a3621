"""The app's registration with Django."""

from django.apps import AppConfig


class RegistryConfig(AppConfig):
    name = "registry"

    def ready(self) -> None:
        """Tells what personas see, so that nobody shows others more."""
        from registry.selectors import targets_assigned  # noqa: PLC0415  (models are ready now)
        from security.giving import sight_register  # noqa: PLC0415

        sight_register(targets_assigned)
