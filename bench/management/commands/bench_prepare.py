"""`manage.py bench_prepare`: fills the bench's database by the hub's own services, and counts statements."""

import contextlib
import itertools
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

from bench.arms import ARMS, PERSONAS, TOOLS, Request, World
from bench.calls import BODY, PREPARED, WEB_CALL
from bench.tools import impure_publish, isolated_publish, many_publish, web_publish
from registry.catalogue import catalogue_sync
from registry.models import Package
from registry.services import assignment_create
from security.models import Persona, User
from security.policy.limits import limit_create
from security.sandbox.levels import Level
from security.sandbox.probes import probe
from security.services import persona_create, token_create

# Whose rights change.
ELSEWHERE = "elsewhere"


@dataclass(frozen=True)
class Asked:
    """What one call asks of the database: how many statements, in how many transactions."""

    statements: int
    transactions: int


class Command(BaseCommand):
    help = "Makes tables, tools, personas and tokens, and prints them with counts as JSON."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--upstream", type=int, help="the port of a server that a tool asks")

    def handle(self, *args: Any, upstream: int | None, **options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        # The floor's table comes by run_syncdb, which goes before migrations but needs their tables.
        call_command("migrate", interactive=False, verbosity=0, run_syncdb=True)
        catalogue_sync(settings.CATALOGUE)
        world = world_make(User.objects.create_superuser("admin"), upstream)
        web = itertools.repeat(Request(WEB_CALL, world["tokens"]["bench"], json.dumps(BODY).encode()))
        requests = {"web": web} if upstream else _counted_arms(world)
        world["asked"] = {arm: asdict(_asked(of)) for arm, of in requests.items()}
        self.stdout.write(json.dumps(world))


def world_make(admin: User, upstream: int | None = None) -> dict[str, Any]:
    """Publishes the bench's tools and makes its personas, as the arms need them (bench/arms.py).

    `upstream` is the port of a server for the tool that asks one. The catalogue is published already.
    """
    if upstream:
        web_publish(upstream)
    impure_publish()
    isolated_publish()
    tools = many_publish(TOOLS)
    every, (many,) = list(Package.objects.all()), Package.objects.filter(name="bench-many")
    tokens = {name: _caller(admin, name, every) for name in ("bench", "limited")}
    _limit(admin, Persona.objects.get(name="limited"))
    persona_create(by=admin, name=ELSEWHERE)
    callers = [_caller(admin, f"many-{number}", [many]) for number in range(PERSONAS)]
    return {
        "tokens": tokens,
        "many": {"tokens": callers, "tools": tools},
        "sandbox": probe(Level.ISOLATED).holds,
    }


def _counted_arms(world: World) -> dict[str, Iterator[Request]]:
    """The requests of the arms that this process answers by itself, each alike."""
    found = {}
    for name, arm in ARMS.items():
        if arm.requests and not (arm.is_batch or arm.needs_sandbox or arm.company or arm.warm_up):
            found[name] = arm.requests(world)
    return found


def _caller(admin: User, name: str, packages: list[Package]) -> str:
    """A persona that may call the packages' tools; gives its token."""
    persona = persona_create(by=admin, name=name)
    for package in packages:
        assignment_create(by=admin, persona=persona, package=package)
    return token_create(by=admin, persona=persona, name="bench")[1]


def _limit(admin: User, persona: Persona) -> None:
    """A rate limit and quotas of each measure, which the bench does not use up."""
    kinds = (("rate", "calls"), ("quota", "calls"), ("quota", "seconds"), ("quota", "bytes"))
    for kind, measure in kinds:
        limit_create(by=admin, kind=kind, measure=measure, amount=10**12, window_s=86_400, persona=persona)


def _asked(requests: Iterator[Request]) -> Asked:
    """Counts one call after others, which note that the token was used and fill caches."""
    client = Client(SERVER_NAME="127.0.0.1")
    for _ in range(PREPARED - 1):
        _call(client, next(requests))
    with _counted() as found:
        _call(client, next(requests))
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


def _call(client: Client, request: Request) -> None:
    headers = {"Authorization": f"Bearer {request.token}", **request.headers}
    answer = client.post(request.path, request.body, content_type="application/json", headers=headers)
    if answer.status_code != 200:
        raise RuntimeError(f"{request.path} answered {answer.status_code}: {answer.content[:300]!r}")
