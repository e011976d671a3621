"""healthz and readyz: alive, and fit to serve."""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection, connections
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone

from audit.models import Event
from core.duties.models import WriteProbe
from execution.engine.lease import Lease
from execution.models import Run
from monitoring import health
from monitoring.writable import writable_forget


def checks(response: Any) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in json.loads(response.content)["checks"]}


@pytest.fixture
def away(transactional_db: None) -> Iterator[None]:
    """The database is away: its address leads nowhere. This thread's connection only."""
    settings = connection.settings_dict
    kept = {name: settings[name] for name in ("NAME", "HOST", "PORT")}
    connections.close_all()
    if connection.vendor == "postgresql":
        settings.update(HOST="127.0.0.1", PORT="1")
    else:
        settings.update(NAME=str(Path("/nowhere/at/all.sqlite3")))
    yield
    connections.close_all()
    settings.update(kept)


def test_a_process_that_answers_is_alive_even_without_its_database(away: None, client: Client) -> None:
    response = client.get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok\n")


@pytest.mark.django_db
def test_a_hub_that_lacks_nothing_is_ready(client: Client) -> None:
    response = client.get("/readyz")
    assert response.status_code == 200, response.content
    assert json.loads(response.content)["ready"] is True
    assert {"database", "migrations", "broker"} <= set(checks(response))


@pytest.mark.django_db
def test_a_hub_with_a_missing_migration_is_not_ready(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_migrated", threading.Event())
    MigrationRecorder.Migration.objects.filter(app="execution").latest("name").delete()
    response = client.get("/readyz")
    assert response.status_code == 503
    assert int(response["Retry-After"]) > 0
    check = checks(response)["migrations"]
    assert check["ok"] is False
    assert "manage.py migrate" in check["reason"]


def test_a_hub_without_its_database_is_not_ready(away: None, client: Client) -> None:
    response = client.get("/readyz")
    assert response.status_code == 503
    assert checks(response)["database"]["ok"] is False
    assert "nowhere" not in response.content.decode()


def test_a_call_without_the_database_is_503_with_retry_after(away: None, client: Client) -> None:
    response = client.get("/api/v1/tools", HTTP_AUTHORIZATION="Bearer thp_" + "a" * 43)
    assert (response.status_code, response["Content-Type"]) == (503, "application/problem+json")
    assert response.json()["error"]["code"] == "RECORD_UNAVAILABLE"
    assert int(response["Retry-After"]) > 0


@pytest.mark.django_db
def test_runs_that_nobody_begins_are_told_and_calls_are_taken_all_the_same(
    client: Client, make_run: Callable[..., Run], leased: Callable[..., Lease]
) -> None:
    make_run(due_at=timezone.now() - 2 * health.UNHEARD)
    response = client.get("/readyz")
    check = checks(response)["workers"]
    assert (response.status_code, check["ok"]) == (200, False)
    assert "no worker begins them" in check["reason"]
    Run.objects.filter(pk=leased().run.pk).update(
        beat_at=timezone.now()
    )  # somebody works, and takes more when there is room
    assert checks(client.get("/readyz"))["workers"]["ok"] is True


@pytest.mark.parametrize("path", ["/livez", "/healthz", "/readyz", "/metrics"])
@pytest.mark.django_db
def test_only_reading_is_allowed(client: Client, path: str) -> None:
    assert client.post(path).status_code == 405
    assert client.head(path).status_code == 200


@pytest.mark.django_db
def test_readiness_tries_a_write_which_leaves_nothing_and_is_used_for_two_seconds(client: Client) -> None:
    writable_forget()
    assert client.get("/readyz").status_code == 200
    assert (Event.objects.count(), Run.objects.count(), WriteProbe.objects.count()) == (0, 0, 1)
    first = WriteProbe.objects.get().written_at
    for _ in range(5):
        client.get("/readyz")
    assert WriteProbe.objects.get().written_at == first
    assert list(django_settings.DATA.glob(".write-probe-*")) == []


@pytest.mark.django_db
def test_a_data_folder_that_takes_no_writes_is_not_ready(
    client: Client, settings: Any, tmp_path: Path
) -> None:
    writable_forget()
    settings.DATA = tmp_path / "gone"
    response = client.get("/readyz")
    assert response.status_code == 503
    assert "The data folder takes no writes" in checks(response)["writes"]["reason"]
    assert str(tmp_path) not in response.content.decode()
    writable_forget()
