"""Shares of the queue: one persona that fills it leaves room for every other one."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.shares import share_of
from execution.engine import room
from execution.engine.room import Room
from execution.engine.store import current
from execution.models import Run, Status
from registry.models import Package, Tool
from registry.services import assignment_create
from security.models import Persona, User
from security.services import persona_create, token_create
from tests.execution.fixtures import MakeRun, stores

pytestmark = pytest.mark.django_db
Call = Callable[..., Any]
LATER = {"HTTP_PREFER": "respond-async"}


@pytest.fixture
def other(admin: User, fx: Package) -> dict[str, str]:
    """The headers of a second persona that may call what the first may."""
    persona = persona_create(by=admin, name="other")
    assignment_create(by=admin, persona=persona, tool=Tool.objects.get(name="fx_echo"))
    return {"HTTP_AUTHORIZATION": f"Bearer {token_create(by=admin, persona=persona, name='t')[1]}"}


def repeat(run: Run, times: int) -> None:
    """Write the same run again so many times, by one statement."""
    others = ", ".join(f'"{field.column}"' for field in Run._meta.concrete_fields if field.column != "id")
    key = "gen_random_uuid()" if connection.vendor == "postgresql" else "lower(hex(randomblob(16)))"
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %s) "
            f"INSERT INTO execution_run (id, {others}) "
            f"SELECT {key}, {others} FROM execution_run CROSS JOIN n WHERE id = %s",
            [times, run.pk if connection.vendor == "postgresql" else run.pk.hex],
        )


def test_ten_thousand_waiting_runs_of_one_persona_leave_room_for_another(
    call: Call, make_run: MakeRun, other: dict[str, str]
) -> None:
    repeat(make_run(), 9_999)
    refused = call("fx_echo", {"value": 1}, **LATER)
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "OVERLOADED")
    assert call("fx_echo", {"value": 1}, **LATER, **other).status_code == 202


@pytest.mark.parametrize("status", [Status.PENDING, Status.WAITING_RETRY])
def test_a_refusal_names_the_share_and_when_to_come_back(
    call: Call, make_run: MakeRun, settings: Any, status: Status
) -> None:
    settings.QUEUE_MAX, settings.QUEUE_SHARE = 8, 2
    for _ in range(4):
        make_run(status=status)
    answer = call("fx_echo", {"value": 1}, **LATER)
    error = answer.json()["error"]
    assert error["message"] == "researcher has 4 runs waiting in the queue default; its share is 4 now."
    assert error["details"] == {"persona": "researcher", "queue": "default", "waiting": 4, "share": 4}
    assert error["retryable"] is True
    assert answer["Retry-After"] in error["suggestions"][0]


def test_each_of_many_personas_gets_its_share(settings: Any, make_run: MakeRun) -> None:
    """Personas come one after the other and take all they can."""
    settings.QUEUE_MAX, settings.QUEUE_SHARE = 64, 3
    got = []
    for number in range(8):
        persona, taken = Persona.objects.create(name=f"p{number}"), 0
        while taken < 64 and _has_room(persona):
            make_run(persona=persona)
            taken += 1
        got.append(taken)
    assert got == [32, 16, 8, 4, 3, 3, 3, 3]


def _has_room(persona: Persona) -> bool:
    try:
        Room().take("default", persona.pk, persona.name)
    except room.Overloaded:
        return False
    return True


def test_a_share_leaves_room_for_the_next() -> None:
    """Whatever the bound and the least share: no party alone fills the resource, and each gets the least."""
    for most, least in itertools.product((1, 2, 10, 1_000), (1, 2, 100)):
        held = 0
        while held < share_of(most, held, least):
            held += 1
        assert held == max(min(most, least), -(-most // 2))
        assert share_of(most, most, least) == min(most, least)


def test_places_in_another_queue_are_not_counted(call: Call, make_run: MakeRun, settings: Any) -> None:
    settings.QUEUE_MAX, settings.QUEUE_SHARE = 4, 1
    for _ in range(4):
        make_run(queue="sandbox")
    assert call("fx_echo", {"value": 1}, **LATER).status_code == 202


def test_both_ways_count_the_same(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """The prepared statement and the ORM, over every state, queue and persona."""
    people = [Persona.objects.create(name=f"p{number}") for number in range(2)]
    for persona, status, queue in itertools.product(people, Status, ("default", "sandbox")):
        make_run(status=status, queue=queue, persona=persona)
    found = []
    for store in stores():
        monkeypatch.setattr(current, "STORE", store)
        found.append([store.waiting_counts("default", persona.pk, 99) for persona in people])
    assert all(one == [(4, 2), (4, 2)] for one in found)


def test_a_queue_with_room_is_counted_once_for_all_personas(settings: Any, fx: Package) -> None:
    """The execute path's statements: one count serves many calls of many personas."""
    settings.QUEUE_MAX = 10_000
    here = Room()
    with CaptureQueriesContext(connection) as asked:
        counted: list[int] = []
        real = current.STORE.waiting_counts

        def watched(queue: str, persona_id: int, most: int) -> tuple[int, int]:
            counted.append(persona_id)
            return real(queue, persona_id, most)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(current.STORE, "waiting_counts", watched)
            patched.setattr(room.time, "monotonic", lambda: 1.0)
            for persona_id in range(100):
                here.take("default", persona_id, "p")
    assert counted == [0]
    assert len(asked) <= 2
