"""`manage.py catalogue_sync`: publishes the built-in tools that are new."""

from typing import Any

from django.conf import settings

from core.commands import VisibleCommand
from registry.catalogue import catalogue_sync


class Command(VisibleCommand):
    help = "Publishes the built-in tools of this version of the hub, where they are new."

    def handle(self, *args: Any, **options: Any) -> None:
        for release in catalogue_sync(settings.CATALOGUE):
            self.stdout.write(f"published {release}")
