"""While a new version of the hub takes over, an old one publishes yet: it does not name the new columns."""

from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from registry.models import Package, Release, Tool, ToolVersion

pytestmark = pytest.mark.django_db


def inserted(table: str, **columns: Any) -> None:
    names = ", ".join(columns)
    places = ", ".join("%s" for _ in columns)
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", list(columns.values()))


def test_rows_of_an_old_process_are_whole() -> None:
    now, package = timezone.now(), Package.objects.create(name="greetings")
    inserted(
        "registry_release",
        package_id=package.pk,
        version="1.0.0",
        digest="0" * 64,
        manifest="{}",
        runner="python",
        entry="greetings",
        published_at=now,
    )
    release = Release.objects.get()
    assert (release.lock, release.is_reviewed, release.origin, release.removed_at) == ("", False, {}, None)
    inserted("registry_tool", name="greet", package_id=package.pk, category="data", created_at=now)
    tool = Tool.objects.get()
    assert tool.overlay == {}
    inserted(
        "registry_toolversion",
        tool_id=tool.pk,
        release_id=release.pk,
        version="1.0.0",
        state="active",
        digest="1" * 64,
        definition="{}",
        runner="python",
        entry="greetings:greet",
        required_capabilities="[]",
        is_pure=True,
        is_idempotent=True,
        uses_network=False,
        determinism="deterministic",
        timeout_ms=1,
        max_output_bytes=1,
        created_at=now,
    )
    assert ToolVersion.objects.get().state_reason == ""
