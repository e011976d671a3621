"""Is the hub fit to serve? Each check answers ok or says what is wrong."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from celery import current_app
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models.functions import Now

from execution.models import Run, Status
from monitoring.writable import writable_problem
from security.keys import keys_problem

# Runs that have been due for so long ought to have been begun by somebody.
UNHEARD = timedelta(minutes=1)


@dataclass(frozen=True)
class Health:
    """A check's answer: name, whether it holds, and for people what is wrong."""

    name: str
    ok: bool
    reason: str = ""


def _database() -> Health:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return Health("database", False, "The database does not answer.")
    return Health("database", True)


def _writes() -> Health:
    try:
        reason = writable_problem()
    except DatabaseError:
        return Health("writes", False, "The database does not answer.")
    return Health("writes", not reason, reason)


# Once all migrations were seen, this process asks no more: the question is dear.
_migrated = threading.Event()


def _migrations() -> Health:
    if _migrated.is_set():
        return Health("migrations", True)
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return Health("migrations", False, "The database does not answer.")
    reason = f"{len(missing)} migrations are missing: run `manage.py migrate`." if missing else ""
    if not missing:
        _migrated.set()
    return Health("migrations", not missing, reason)


def _broker() -> Health:
    try:
        with current_app.connection_for_write() as wire:
            wire.ensure_connection(max_retries=1, interval_start=0, timeout=2)
    except Exception as error:  # noqa: BLE001 - each transport raises errors of its own
        return Health(
            "broker", False, f"The broker does not answer ({type(error).__name__}); calls still wait safely."
        )
    return Health("broker", True)


def _workers() -> Health:
    """Workers may be alive and hear no bell: then runs are due, and nobody works."""
    here = Run.objects.filter(inline=False)
    try:
        waits = here.filter(status=Status.PENDING, due_at__lt=Now() - UNHEARD).exists()
        if (
            not waits
            or here.filter(
                status=Status.RUNNING, beat_at__gt=Now() - timedelta(seconds=settings.LEASE_S)
            ).exists()
        ):
            return Health("workers", True)
    except DatabaseError:
        return Health("workers", False, "The database does not answer.")
    return Health(
        "workers",
        False,
        "Runs have been due for a minute, and no worker begins them: is one alive, and does it consume?",
    )


def _keys() -> Health:
    """A process that lacks a key cannot read secrets, or seals them so that no other can."""
    try:
        reason = keys_problem()
    except DatabaseError:
        return Health("keys", False, "The database does not answer.")
    return Health("keys", not reason, reason)


CHECKS: tuple[Callable[[], Health], ...] = (_database, _migrations, _writes, _keys, _broker, _workers)


def health_checks() -> list[Health]:
    """Every check's answer, in order."""
    return [check() for check in CHECKS]
