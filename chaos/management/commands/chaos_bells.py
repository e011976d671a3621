"""`manage.py chaos_bells COUNT`: rings so often, whether or not anything is due."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from execution.engine.bells import ring


class Command(BaseCommand):
    help = "Rings COUNT times for nothing."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("count", type=int)

    def handle(self, *args: Any, count: int, **options: Any) -> None:
        self.stdout.write(str(sum(ring("default") for _ in range(count))))
