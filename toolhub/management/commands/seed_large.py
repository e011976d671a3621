"""`manage.py seed_large` (`make seed-large`): fills a PostgreSQL database for measuring pages."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection, transaction
from django.db.models import Max, Model
from django.utils import timezone

from audit.models import Event
from execution.engine.queues import DEFAULT
from execution.memory.models import Session
from execution.models import Run
from execution.rollups.roll import rollups_keep
from registry.models import Assignment, Package, Release, Tool, ToolVersion
from security.models import Persona, User
from toolhub.management import large_people, large_sets, large_world
from toolhub.management.copying import Value, identities_raise, rows_copy, unwatched
from toolhub_sdk.runtimes.registry import own_runtime

KEYS: dict[str, type[Model]] = {
    "package": Package,
    "release": Release,
    "tool": Tool,
    "version": ToolVersion,
    "persona": Persona,
    "assignment": Assignment,
    "event": Event,
    "session": Session,
}


class Command(BaseCommand):
    """Tools, personas, runs and ledger events by COPY, each run with its two events; teams and sessions."""

    help = "Fills an empty PostgreSQL database with a large world, by COPY."

    def add_arguments(self, parser: CommandParser) -> None:
        """How much of each."""
        parser.add_argument("--tools", type=int, default=100_000)
        parser.add_argument("--runs", type=int, default=1_000_000)
        parser.add_argument("--personas", type=int, default=500)

    def handle(self, *args: Any, tools: int, runs: int, personas: int, **options: Any) -> None:
        """Copies, then lets the database count what it has."""
        if connection.vendor != "postgresql":
            raise CommandError("This needs PostgreSQL: set TOOLHUB_DATABASE_URL.")
        if Tool.objects.filter(name=large_world.tool_name(1)).exists():
            raise CommandError("This database was filled before. Take a new one.")
        if min(tools, personas) < 1 or runs < 0:
            raise CommandError("At least one tool and one persona are needed.")
        person, _ = User.objects.get_or_create(
            username="large-world", defaults={"is_active": True, "password": "!"}
        )
        after = {name: model.objects.aggregate(n=Max("pk"))["n"] or 0 for name, model in KEYS.items()}  # type: ignore[attr-defined]
        size = large_world.Size(tools, runs, personas, after, person.pk, person.username)
        with transaction.atomic():
            self._registry(size)
            self._runs(size)
            with self._timed(f"{large_people.TEAMS} teams, {large_people.PEOPLE} people, sessions, rules"):
                large_people.people_make(size, timezone.now())
            identities_raise(*KEYS.values())
            with self._timed(f"{large_sets.SETS} collections"):
                large_sets.sets_make(person.pk, timezone.now())
        with self._timed("half-hours, as a steward counts them"):
            while rollups_keep():
                pass
        with self._timed("statistics"), connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")

    def _registry(self, size: large_world.Size) -> None:
        now = timezone.now().isoformat()
        with connection.cursor() as cursor:
            # Packages and releases, tools and versions, name each other.
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        released: dict[str, Value] = {
            "version": "1.0.0",
            "runner": own_runtime().name,
            "entry": "none",
            "manifest": large_world.MANIFEST,
        }
        version: dict[str, Value] = {
            "version": "1.0.0",
            "runner": own_runtime().name,
            "entry": "none",
            "is_pure": True,
            "is_idempotent": True,
            "uses_network": False,
            "determinism": "deterministic",
            "timeout_ms": 30_000,
            "max_output_bytes": 1_048_576,
        }
        assigned: dict[str, Value] = {"assigned_by_id": size.person_id, "created_at": now}
        with self._timed(f"{size.tools:,} tools in {size.packages:,} packages, {size.personas:,} personas"):
            rows_copy(Package, large_world.packages(size), {"created_at": now})
            rows_copy(Release, large_world.releases(size), {**released, "published_at": now})
            rows_copy(Tool, large_world.tools(size), {"created_at": now})
            rows_copy(ToolVersion, large_world.versions(size), {**version, "created_at": now})
            rows_copy(Persona, large_world.personas(size), {"created_at": now})
            rows_copy(Assignment, large_world.assignments(size), assigned)

    def _runs(self, size: large_world.Size) -> None:
        now = timezone.now()
        constant: dict[str, Value] = {
            "queue": DEFAULT,
            "inline": True,
            "attempt": 1,
            "arguments": '{"query":"what there is"}',
            "timeout_ms": 30_000,
            "max_output_bytes": 1_048_576,
            "responsible_id": size.person_id,
        }
        with unwatched(Run, Event):
            with self._timed(f"{size.runs:,} runs"):
                rows_copy(Run, large_world.runs(size, now), constant)
            with self._timed("their events in the ledger"):
                rows_copy(Event, large_world.events(size, now), {"subject_kind": "tool"})

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        begun = time.monotonic()
        yield
        self.stdout.write(f"{time.monotonic() - begun:6.1f} s  {what}")
