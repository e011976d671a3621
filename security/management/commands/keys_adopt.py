"""`manage.py keys_adopt`: makes this process's keys those of the hub."""

from typing import Any

from django.core.management.base import BaseCommand

from core.actors import SYSTEM
from security.keys import keys_adopt, keys_here


class Command(BaseCommand):
    help = "Records this process's keys as the hub's, after keys were lost or changed."

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, and print the fingerprints."""
        keys_adopt(actor=SYSTEM)
        for kind, marks in keys_here().items():
            self.stdout.write(f"{kind}: {', '.join(marks)}")
