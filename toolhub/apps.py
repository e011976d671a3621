"""The project's own registration with Django: its commands and checks."""

import gc
from typing import Any

from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate


def _roles(**_: Any) -> None:
    from security.accounts.roles import roles_sync  # noqa: PLC0415  (as above)

    roles_sync()


class ToolhubConfig(AppConfig):
    name = "toolhub"

    def ready(self) -> None:
        """Loads the system checks. What is loaded now stays: it is never looked through for garbage."""
        from toolhub import checks  # noqa: F401, PLC0415  (checks may import models only once apps are ready)

        # Once after all apps were migrated, when all permissions are there.
        last = [config for config in apps.get_app_configs() if config.models_module][-1]
        post_migrate.connect(_roles, sender=last, dispatch_uid="roles")
        gc.freeze()
        gc.enable()
