"""`manage.py vault_rotate`: seals every secret anew under the newest key."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.actors import SYSTEM
from security.vault import vault_rotate


class Command(BaseCommand):
    help = "Seals every secret anew under the newest key of TOOLHUB_VAULT_KEYS."

    def handle(self, *args: Any, **options: Any) -> None:
        """Says how many; fails where one could not be opened, which stays as it is."""
        done, unread = vault_rotate(actor=SYSTEM)
        self.stdout.write(f"{done} secrets are sealed under the newest key.")
        if unread:
            raise CommandError(f"No key opens {len(unread)}; set them again: {', '.join(unread[:20])}.")
