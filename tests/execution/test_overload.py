"""503: when too much waits, and when the record cannot be written. Then nothing is left behind."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from audit.models import Event
from execution.models import Attempt, IdempotencyKey, Run, RunEvent
from registry.models import Package

Call = Callable[..., Any]


@contextmanager
def full_disk(table: str) -> Iterator[None]:
    """Every INSERT into the table fails, as on a full disk."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "CREATE FUNCTION test_full_disk() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN RAISE EXCEPTION 'disk full' USING ERRCODE = 'disk_full'; END $$"
            )
            cursor.execute(
                f"CREATE TRIGGER test_full_disk BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION test_full_disk()"
            )
        else:
            cursor.execute(
                f"CREATE TRIGGER test_full_disk BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'disk full'); END"
            )
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                cursor.execute("DROP FUNCTION test_full_disk() CASCADE")
            else:
                cursor.execute("DROP TRIGGER test_full_disk")


def counts() -> list[int]:
    return [model.objects.count() for model in (Run, Attempt, RunEvent, IdempotencyKey, Event)]  # type: ignore[attr-defined]


WAYS = {
    "carried out at once": ("fx_echo", {}),
    "carried out here, impure": ("fx_count", {}),
    "for a worker": ("fx_echo", {"HTTP_PREFER": "respond-async"}),
    "with a key": ("fx_echo", {"HTTP_IDEMPOTENCY_KEY": "k"}),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("way", "table"),
    [
        *itertools.product(WAYS, ["audit_event", "execution_run"]),
        # The others have no events of their own.
        *itertools.product(["carried out here, impure", "for a worker"], ["execution_runevent"]),
    ],
)
def test_a_call_that_cannot_be_recorded_is_503_and_did_not_happen(
    call: Call, fx: Package, tmp_path: Path, way: str, table: str
) -> None:
    tool, headers = WAYS[way]
    world = tmp_path / "world"
    arguments = {"value": 1} if tool == "fx_echo" else {"file": str(world)}
    body = {"arguments": arguments, "limits": {"timeoutMs": 1000}}
    before = counts()
    with full_disk(table):
        response = call(tool, body=body, **headers)
    assert response.status_code == 503
    assert response.json()["error"]["code"] == "RECORD_UNAVAILABLE"
    assert int(response["Retry-After"]) > 0
    assert "disk full" not in response.content.decode()
    assert counts() == before
    assert not world.exists()
    assert call(tool, body=body, **headers).status_code in {200, 202}


@pytest.mark.django_db(transaction=True)
def test_a_refusal_that_cannot_be_recorded_is_503(call: Call, fx: Package) -> None:
    with full_disk("audit_event"):
        assert call("nope", {}).status_code == 503


@pytest.mark.django_db
def test_beyond_the_bound_of_the_queue_it_is_503_and_nothing_is_accepted(
    call: Call, fx: Package, settings: Any
) -> None:
    settings.QUEUE_MAX = 2
    for _ in range(2):
        assert call("fx_echo", {"value": 1}, HTTP_PREFER="respond-async").status_code == 202
    before = counts()
    response = call("fx_echo", {"value": 1}, HTTP_PREFER="respond-async", HTTP_IDEMPOTENCY_KEY="k")
    assert (response.status_code, response.json()["error"]["code"]) == (503, "OVERLOADED")
    assert int(response["Retry-After"]) > 0
    refused = Event.objects.latest("id")
    assert (refused.kind, '"code":"OVERLOADED"' in refused.canonical) == ("run.refused", True)
    assert counts() == [*before[:-1], before[-1] + 1]
    # what is carried out at once does not wait in the queue
    assert call("fx_echo", {"value": 1}).status_code == 200
