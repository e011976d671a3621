"""`manage.py bench_prepare`: fills the bench's database by the hub's own services, and counts statements."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any
from unittest import mock

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser
from django.db import connection
from django.test import Client

from bench.calls import BODY, ECHO, FLOOR, IMPURE_ECHO, PREPARED, WEB_CALL
from bench.tools import impure_publish, web_publish
from registry.catalogue import catalogue_sync
from registry.models import Package
from registry.services import assignment_create
from security.models import User
from security.services import persona_create, token_create


@dataclass(frozen=True)
class Asked:
    """What one call asks of the database: its statements, and how many transactions around them."""

    statements: list[str]
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
    statements: list[str] = []
    commits: list[None] = []
    commit = connection.commit

    def committed() -> None:
        commits.append(None)
        commit()

    connection.commit = committed  # type: ignore[method-assign]
    try:
        with _noting(statements):
            _call(client, path)
    finally:
        del connection.commit
    return Asked(statements, len(commits))


@contextlib.contextmanager
def _noting(statements: list[str]) -> Iterator[None]:
    """Notes every statement; on PostgreSQL at the driver, which also sees what goes past the ORM."""
    if connection.vendor != "postgresql":

        def wrapper(execute: Any, query: str, *rest: Any) -> Any:
            statements.append(_short(query))
            return execute(query, *rest)

        with connection.execute_wrapper(wrapper):
            yield
        return
    plain = psycopg.Cursor.execute

    def noted(cursor: psycopg.Cursor[Any], query: Any, *values: Any, **options: Any) -> Any:
        statements.append(_short(str(query)))
        return plain(cursor, query, *values, **options)

    with mock.patch.object(psycopg.Cursor, "execute", noted):
        yield


def _short(query: str) -> str:
    return " ".join(query.split())[:120]


def _call(client: Client, path: str) -> None:
    answer = client.post(path, BODY, content_type="application/json")
    if answer.status_code != 200:
        raise RuntimeError(f"{path} answered {answer.status_code}: {answer.content[:300]!r}")
