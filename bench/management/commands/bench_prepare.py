"""`manage.py bench_prepare`: fills the bench's database by the hub's own services, and counts statements."""

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from psycopg import pq

from bench.calls import BODY, ECHO, FLOOR, IMPURE_ECHO, PREPARED, WEB_CALL
from bench.tools import impure_publish, web_publish
from registry.catalogue import catalogue_sync
from registry.models import Package
from registry.services import assignment_create
from security.models import User
from security.services import persona_create, token_create


@dataclass(frozen=True)
class Asked:
    """What one call asks of the database: how many statements, in how many transactions."""

    statements: int
    transactions: int


class Command(BaseCommand):
    help = "Makes tables, tools, a persona and its token, and prints them with counts as JSON."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--upstream", type=int, help="the port of a server that a tool asks")

    def handle(self, *args: Any, upstream: int | None, **options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        # The floor's table comes by run_syncdb, which goes before migrations but needs their tables.
        call_command("migrate", interactive=False, verbosity=0, run_syncdb=True)
        catalogue_sync(settings.CATALOGUE)
        impure_publish()
        if upstream:
            web_publish(upstream)
        admin = User.objects.create_superuser("admin")
        persona = persona_create(by=admin, name="bench")
        for package in Package.objects.all():
            assignment_create(by=admin, persona=persona, package=package)
        _, token = token_create(by=admin, persona=persona, name="bench")
        paths = {"echo": ECHO, "impure": IMPURE_ECHO, "floor": FLOOR}
        if upstream:
            paths = {"web": WEB_CALL}
        asked = {arm: asdict(_asked(path, token)) for arm, path in paths.items()}
        self.stdout.write(json.dumps({"token": token, "asked": asked}))


def _asked(path: str, token: str) -> Asked:
    """Counts one call after others, which note that the token was used and fill caches."""
    client = Client(SERVER_NAME="127.0.0.1", HTTP_AUTHORIZATION=f"Bearer {token}")
    for _ in range(PREPARED - 1):
        _call(client, path)
    with _counted() as found:
        _call(client, path)
    return found()


@contextlib.contextmanager
def _counted() -> Iterator[Callable[[], Asked]]:
    """Counts what goes over this thread's connection; asks for the counts when the block has ended.

    On PostgreSQL by libpq's own trace of messages, which nothing goes past.
    """
    if connection.vendor == "postgresql":
        connection.ensure_connection()
        with tempfile.TemporaryFile() as file:
            wire = connection.connection.pgconn
            wire.trace(file.fileno())
            wire.set_trace_flags(pq.Trace.SUPPRESS_TIMESTAMPS)
            try:
                yield lambda: _read(lines)
            finally:
                wire.untrace()
                file.seek(0)
                lines = file.read().decode(errors="replace").splitlines()
        return
    with CaptureQueriesContext(connection) as queries:
        yield lambda: _split([query["sql"] for query in queries.captured_queries])


def _read(lines: list[str]) -> Asked:
    """A statement is executed or sent whole; a transaction has ended when the server says it is idle."""
    whole = [line.partition('"')[2] for line in lines if line.startswith("F\t") and "\tQuery\t" in line]
    executed = sum(line.startswith("F\t") and "\tExecute\t" in line for line in lines)
    idle = sum(line.startswith("B\t") and line.rstrip().endswith("ReadyForQuery\t I") for line in lines)
    return Asked(executed + _split(whole).statements, idle)


def _split(statements: list[str]) -> Asked:
    """What is not a statement of its own bounds a transaction."""
    bounds = [sql for sql in statements if sql.startswith(("BEGIN", "COMMIT", "ROLLBACK"))]
    return Asked(len(statements) - len(bounds), sum(sql.startswith("COMMIT") for sql in bounds))


def _call(client: Client, path: str) -> None:
    answer = client.post(path, BODY, content_type="application/json")
    if answer.status_code != 200:
        raise RuntimeError(f"{path} answered {answer.status_code}: {answer.content[:300]!r}")
