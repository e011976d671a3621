"""Calls tools of the fixture package as an agent does; the work is done by the worker's own functions."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from execution.engine.perform import queue_work
from registry.services import assignment_create
from security.models import Persona, User
from security.sandbox.warm import warm_clear
from tests.packages.load import package_publish

Answer = dict[str, Any]
Carry = Callable[..., Answer]


@pytest.fixture(autouse=True)
def nothing_waits() -> Iterator[None]:
    """Programs that wait for a next call end with the test."""
    yield
    warm_clear()


@pytest.fixture
def fx_contract(transactional_db: None, admin: User, persona: Persona) -> None:
    """The fixture package, published and assigned to the persona. A lease's heart has to see the rows."""
    release = package_publish("fx_contract")
    assignment_create(by=admin, persona=persona, package=release.package)


@pytest.fixture
def carry(client: Client, call: Callable[..., Any], token_text: str) -> Carry:
    """Calls a tool, has it carried out, and reads its run: `carry("fx_pool", {…})`. 4xx comes as it is."""

    def do(name: str, arguments: Any = None, **more: Any) -> Answer:
        accepted = call(name, arguments or {}, HTTP_PREFER="respond-async", **more)
        if accepted.status_code >= 400:
            return {"status": accepted.status_code, **accepted.json()}
        queue_work("sandbox")
        run = accepted.json()["metadata"]["run_id"]
        read = client.get(f"/api/v1/runs/{run}", HTTP_AUTHORIZATION=f"Bearer {token_text}")
        return {"status": read.status_code, **read.json()}

    return do


@pytest.fixture
def parts(client: Client, token_text: str) -> Callable[[Answer], list[Any]]:
    """What a run's tool sent while it worked."""

    def do(answer: Answer) -> list[Any]:
        run = answer["metadata"]["run_id"]
        read = client.get(f"/api/v1/runs/{run}/events", HTTP_AUTHORIZATION=f"Bearer {token_text}")
        return [each["data"] for each in read.json()["events"] if each["event"] == "TOOL_CALL_PROGRESS"]

    return do
