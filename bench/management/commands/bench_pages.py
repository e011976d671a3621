"""`make bench-pages`: time, queries and size of every page against their budgets."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.test import Client

from bench.pages import ADMIN, MEMBER, addresses, line, measure
from bench.server import free_port, serving
from execution.rollups.roll import rollups_keep
from security.models import User
from toolhub.management.large_people import member_name
from toolhub.processes.programs import web


class Command(BaseCommand):
    """Starts a web process on the database of TOOLHUB_DATABASE_URL and asks it for every page."""

    help = "Measures every page on a database that seed_large filled."

    def add_arguments(self, parser: CommandParser) -> None:
        """How long, and which."""
        parser.add_argument("--rounds", type=int, default=20, help="requests of each client to a page")
        parser.add_argument("--only", default="", help="only pages whose address holds this")

    def handle(self, *args: Any, rounds: int, only: str, **options: Any) -> None:
        """Exit 1 when a page is beyond its budget."""
        while rollups_keep():  # a hub has a steward that does
            pass
        admin, _ = User.objects.get_or_create(username="page-bench", defaults={"is_superuser": True})
        # Reaches what roles say, less what the other teams own.
        member = User.objects.get(username=member_name(1))
        readers = {ADMIN: self._signed_in(admin), MEMBER: self._signed_in(member)}
        port = free_port()
        program = web("127.0.0.1", port, workers=2, threads=16)
        environment = {**os.environ, **program.env, "TOOLHUB_LOG_LEVEL": "WARNING"}
        environment.pop("DJANGO_SETTINGS_MODULE", None)
        subprocess.run([sys.executable, "manage.py", "collectstatic", "--noinput", "-v0"], check=True)
        with (
            tempfile.TemporaryDirectory() as folder,
            serving(program.command, port, environment, Path(folder) / "log", ready="/healthz"),
        ):
            pages = []
            for path in addresses():
                for reader, client in readers.items():
                    if only in path:
                        pages.append(measure(reader, client, port, path, rounds))
                        self.stdout.write(line(pages[-1]))
                        self.stdout.flush()
        wrong = [page for page in pages if page.beyond]
        self.stdout.write(f"{len(pages)} pages, {len(wrong)} beyond their budget")
        if wrong:
            sys.exit(1)

    def _signed_in(self, person: User) -> Client:
        client = Client(headers={"host": "127.0.0.1"})
        client.force_login(person)
        return client
