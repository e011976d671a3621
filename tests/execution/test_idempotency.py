"""Idempotency-Key: one run, however often and however parallel it is asked for."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.db import connections
from django.db.models import F
from django.test import Client

from audit.models import Event
from execution.engine.keys import keys_expire
from execution.models import IdempotencyKey, Run
from registry.models import Package
from registry.services import assignment_create
from security.models import Persona, User
from security.services import token_create

Call = Callable[..., Any]
KEY = {"HTTP_IDEMPOTENCY_KEY": "order-1"}


@pytest.mark.django_db
def test_the_same_key_and_call_is_the_same_run(call: Call, fx: Package) -> None:
    first, second = (call("fx_echo", {"value": 1}, **KEY) for _ in range(2))
    assert first.status_code == second.status_code == 200
    assert first.json() == second.json()
    assert Run.objects.count() == 1


OTHERS: list[dict[str, Any]] = [
    {"arguments": {"value": 2}},
    {"arguments": {"value": 1}, "context": {"session_id": "other"}},
    {"arguments": {"value": 1}, "context_data": {"a": 1}},
    {"arguments": {"value": 1}, "hints": {"a": 1}},
    {"arguments": {"value": 1}, "limits": {"timeoutMs": 10}},
]


@pytest.mark.django_db
@pytest.mark.parametrize("body", OTHERS, ids=str)
def test_the_same_key_with_another_request_is_409(call: Call, fx: Package, body: dict[str, Any]) -> None:
    call("fx_echo", {"value": 1}, **KEY)
    response = call("fx_echo", body=body, **KEY)
    assert (response.status_code, response.json()["error"]["code"]) == (409, "IDEMPOTENCY_CONFLICT")
    assert Run.objects.count() == 1
    refused = Event.objects.get(kind="run.refused")
    assert '"code":"IDEMPOTENCY_CONFLICT"' in refused.canonical


@pytest.mark.django_db
def test_the_same_key_with_another_tool_is_409(call: Call, fx: Package) -> None:
    call("fx_boom", {}, **KEY)
    response = call("fx_exit", {}, **KEY)
    assert (response.status_code, response.json()["error"]["code"]) == (409, "IDEMPOTENCY_CONFLICT")


@pytest.mark.django_db
def test_members_in_another_order_are_the_same_request(call: Call, fx: Package) -> None:
    call("fx_echo", body=b'{"arguments":{"value":{"a":1,"b":2}}}', **KEY)
    assert call("fx_echo", body=b'{"arguments":{"value":{"b":2.0,"a":1}}}', **KEY).status_code == 200
    assert Run.objects.count() == 1


@pytest.mark.django_db
def test_a_failed_run_is_returned_too(call: Call, fx: Package) -> None:
    first, second = (call("fx_boom", {}, **KEY).json() for _ in range(2))
    assert first["metadata"]["run_id"] == second["metadata"]["run_id"]
    assert Run.objects.count() == 1


@pytest.mark.django_db
def test_another_persona_has_keys_of_its_own(call: Call, fx: Package, admin: User) -> None:
    other = Persona.objects.create(name="other")
    assignment_create(by=admin, persona=other, package=fx)
    _, text = token_create(by=admin, persona=other, name="n")
    call("fx_echo", {"value": 1}, **KEY)
    response = call("fx_echo", {"value": 2}, HTTP_AUTHORIZATION=f"Bearer {text}", **KEY)
    assert response.json()["data"] == 2
    assert Run.objects.count() == 2


@pytest.mark.django_db
def test_visibility_is_checked_again(call: Call, fx: Package) -> None:
    call("fx_echo", {"value": 1}, **KEY)
    fx.assignments.all().delete()
    assert call("fx_echo", {"value": 1}, **KEY).status_code == 404


@pytest.mark.django_db
def test_a_key_lives_a_day_and_is_free_again_afterwards(call: Call, fx: Package) -> None:
    call("fx_echo", {"value": 1}, **KEY)
    row = IdempotencyKey.objects.get()
    assert abs(row.expires_at - row.run.created_at - timedelta(hours=24)) < timedelta(minutes=1)
    IdempotencyKey.objects.update(expires_at=F("expires_at") - timedelta(hours=25))
    response = call("fx_echo", {"value": 2}, **KEY)
    assert (response.status_code, response.json()["data"]) == (200, 2)
    assert Run.objects.count() == 2


@pytest.mark.django_db
def test_the_steward_removes_only_keys_that_are_over(call: Call, fx: Package) -> None:
    call("fx_echo", {"value": 1}, **KEY)
    assert keys_expire() == 0
    IdempotencyKey.objects.update(expires_at=F("expires_at") - timedelta(hours=25))
    assert keys_expire() == 1
    assert (IdempotencyKey.objects.count(), Run.objects.count()) == (0, 1)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("tool", ["fx_echo", "fx_count"])
def test_fifty_equal_calls_at_once_are_one_run(
    fx: Package, token_text: str, tmp_path: Path, tool: str
) -> None:
    file = tmp_path / "world"
    arguments = {"value": 1} if tool == "fx_echo" else {"file": str(file)}
    raw = orjson.dumps({"arguments": arguments, "limits": {"timeoutMs": 1000}})
    together = threading.Barrier(10)

    def one(number: int) -> tuple[int, str]:
        if number < 10:
            together.wait(30)
        try:
            response = Client().generic(
                "POST",
                f"/api/v1/tools/{tool}/execute",
                raw,
                "",
                HTTP_AUTHORIZATION=f"Bearer {token_text}",
                **KEY,
            )
            return response.status_code, response.json()["metadata"]["run_id"]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(10) as pool:
        answers = set(pool.map(one, range(50)))
    assert len(answers) == 1
    assert answers.pop()[0] == 200
    assert Run.objects.count() == 1
    if tool == "fx_count":
        assert len(file.read_text().splitlines()) == 1
