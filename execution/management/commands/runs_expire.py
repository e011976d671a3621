"""`manage.py runs_expire`: removes the payloads of old runs."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from execution.engine.expiry import payloads_expire


class Command(BaseCommand):
    help = (
        "Removes arguments, results, contexts and parts of runs that ended long ago; hashes and audit stay."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--days",
            type=int,
            default=settings.PAYLOAD_DAYS,
            help="Runs that ended so many days ago or earlier; TOOLHUB_PAYLOAD_DAYS by default, at least 1.",
        )

    def handle(self, *args: Any, days: int, **options: Any) -> None:
        # An idempotency key lives for a day and gives its run again.
        count = payloads_expire(timezone.now() - timedelta(days=max(days, 1)))
        self.stdout.write(f"{count} payloads removed.")
