"""The hub's processes for tests: real web, worker and steward on the test database."""

import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.db import connection

from chaos.processes import ROOT, Processes, wait_for

__all__ = ["Processes", "database_url", "running", "wait_for"]


def database_url(port: int | None = None) -> str:
    """The address of the database that this test runs on, perhaps through another port (PostgreSQL)."""
    chosen: dict[str, Any] = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{chosen['NAME']}"
    login = quote(chosen["USER"]) + (f":{quote(chosen['PASSWORD'])}" if chosen["PASSWORD"] else "")
    return f"postgres://{login}@{chosen['HOST']}:{port or chosen['PORT'] or 5432}/{chosen['NAME']}"


def environment(lease_s: int = 3) -> dict[str, str]:
    """This test's environment for processes of a hub."""
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.hub_settings",
        "PYTHONPATH": str(ROOT),
        "TOOLHUB_DATA": str(settings.DATA),
        "TOOLHUB_DATABASE_URL": database_url(),
        "TOOLHUB_BROKER_URL": settings.BROKER_URL,
        "TOOLHUB_QUEUE_PREFIX": settings.QUEUE_PREFIX,
        "TOOLHUB_LEASE_S": str(lease_s),
        "TOOLHUB_SECRET_KEY": settings.SECRET_KEY,
    }


def running(lease_s: int = 3, **env: str) -> Iterator[Processes]:
    """For a fixture: processes that are ended with the test."""
    processes = Processes({**environment(lease_s), **env})
    try:
        yield processes
    finally:
        processes.end_all()
