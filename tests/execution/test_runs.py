"""GET runs/{id}, its events, and POST runs/{id}/cancel."""

import itertools
import json
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from audit.models import Event
from execution.engine.perform import queue_work
from execution.models import Run, Status
from registry.models import Package
from registry.services import assignment_create
from security.models import Persona, User
from security.services import token_create
from tests.execution.fixtures import MakeRun, reap

pytestmark = pytest.mark.django_db
Call = Callable[..., Any]
Ask = Callable[..., Any]


@pytest.fixture
def ask(client: Client, token_text: str) -> Ask:
    def do(path: str, method: str = "GET", token: str = token_text) -> Any:
        return client.generic(method, f"/api/v1/runs/{path}", HTTP_AUTHORIZATION=f"Bearer {token}")

    return do


def test_a_run_reads_as_its_call_was_answered(call: Call, fx: Package, ask: Ask) -> None:
    answer = call("fx_echo", {"value": [1, "é"]}).json()
    response = ask(answer["metadata"]["run_id"])
    told = response.json()
    (attempt,) = told.pop("attempts")
    assert (told.pop("preconditions"), told.pop("children"), told.pop("violations")) == (None, [], [])
    assert (response.status_code, told) == (200, answer)
    assert (attempt["number"], attempt["status"], attempt["error"]) == (1, "completed", None)
    assert attempt["duration_ms"] == answer["metadata"]["duration_ms"]
    assert b'"data":[1,"\xc3\xa9"]' in response.content


def test_a_run_without_an_outcome_is_200_with_the_state_of_now(ask: Ask, make_run: MakeRun) -> None:
    response = ask(str(make_run().pk))
    assert response.status_code == 200
    body = response.json()
    assert (body["success"], body["metadata"]["status"], body["metadata"]["completed_at"]) == (
        None,
        "pending",
        None,
    )
    assert response["Retry-After"]


@pytest.mark.parametrize("rest", ["", "/events", "?wait=1"])
def test_another_personas_run_does_not_exist(
    ask: Ask, make_run: MakeRun, admin: User, fx: Package, rest: str
) -> None:
    other = Persona.objects.create(name="other")
    assignment_create(by=admin, persona=other, package=fx)
    _, text = token_create(by=admin, persona=other, name="n")
    theirs, nobodys = ask(f"{make_run().pk}{rest}", token=text), ask(f"{uuid.uuid4()}{rest}", token=text)
    assert (theirs.status_code, theirs.json()["error"]["code"]) == (404, "NOT_FOUND")
    assert theirs.content == nobodys.content


def test_another_personas_run_cannot_be_cancelled(ask: Ask, make_run: MakeRun, admin: User) -> None:
    _, text = token_create(by=admin, persona=Persona.objects.create(name="other"), name="n")
    run = make_run()
    assert ask(f"{run.pk}/cancel", "POST", token=text).status_code == 404
    assert Run.objects.get().cancel_asked_at is None


@pytest.mark.parametrize("wait", ["-1", "soon", "1.5"])
def test_a_wait_that_is_no_number_is_422(ask: Ask, make_run: MakeRun, wait: str) -> None:
    assert ask(f"{make_run().pk}?wait={wait}").status_code == 422


# --- events ---


def events_of(ask: Ask, run_id: Any, query: str = "") -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = ask(f"{run_id}/events{query}").json()["events"]
    return events


def test_events_have_the_numbers_and_payloads_of_the_contract(call: Call, fx: Package, ask: Ask) -> None:
    meta = call("fx_echo", {"value": 7}).json()["metadata"]
    requested, *_, completed = events_of(ask, meta["run_id"])
    assert (requested["event"], requested["number"]) == ("TOOL_CALL_REQUESTED", 400)
    assert requested["data"] == {"toolName": "fx_echo", "params": {"value": 7}}
    assert (completed["event"], completed["number"]) == ("TOOL_CALL_COMPLETED", 410)
    assert completed["data"] == {"toolName": "fx_echo", "result": 7, "durationMs": meta["duration_ms"]}


@pytest.mark.parametrize("prefer", ["wait=30", "respond-async"])
def test_a_failed_call_has_event_420_with_its_error(call: Call, fx: Package, ask: Ask, prefer: str) -> None:
    run_id = call("fx_boom", {}, HTTP_PREFER=prefer).json()["metadata"]["run_id"]
    Run.objects.filter(status=Status.PENDING).update(due_at="2026-01-01T00:00:00Z")
    queue_work("default")
    failed = events_of(ask, run_id)[-1]
    assert (failed["event"], failed["number"]) == ("TOOL_CALL_FAILED", 420)
    assert failed["data"] == {"toolName": "fx_boom", "error": ask(run_id).json()["error"]}


def test_events_are_counted_from_one_and_can_be_read_from_a_number_on(
    call: Call, fx: Package, ask: Ask
) -> None:
    run_id = call("fx_echo", {"value": 7}).json()["metadata"]["run_id"]
    every = events_of(ask, run_id)
    assert [event["seq"] for event in every] == list(range(1, len(every) + 1))
    assert events_of(ask, run_id, "?after=1") == every[1:]
    assert events_of(ask, run_id, "?after=99") == []
    assert ask(f"{run_id}/events?after=x").status_code == 422


def test_events_can_be_read_as_a_stream(
    client: Client, token_text: str, call: Call, fx: Package, ask: Ask
) -> None:
    """WHATWG HTML §9.2: id, event and data lines, an empty line after each event."""
    run_id = call("fx_echo", {"value": 7}).json()["metadata"]["run_id"]
    response = client.get(
        f"/api/v1/runs/{run_id}/events",
        HTTP_ACCEPT="text/event-stream",
        HTTP_AUTHORIZATION=f"Bearer {token_text}",
    )
    assert response["Content-Type"] == "text/event-stream"
    blocks = b"".join(response.streaming_content).decode().split("\n\n")[:-1]
    told = [json.loads(block.split("data: ", 1)[1]) for block in blocks]
    assert told == events_of(ask, run_id)
    assert [block.split("\n")[0] for block in blocks] == [f"id: {event['seq']}" for event in told]
    on = client.get(
        f"/api/v1/runs/{run_id}/events",
        HTTP_ACCEPT="text/event-stream",
        HTTP_LAST_EVENT_ID="1",
        HTTP_AUTHORIZATION=f"Bearer {token_text}",
    )
    assert b"".join(on.streaming_content).decode().split("\n\n")[:-1] == blocks[1:]


@pytest.mark.django_db(transaction=True)
def test_parts_come_while_the_tool_works_and_who_lost_the_stream_goes_on_behind_the_last_one(
    client: Client, token_text: str, call: Call, fx: Package, ask: Ask, tmp_path: Path
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    answer = call("fx_stream", {"fifo": str(fifo)}, HTTP_PREFER="respond-async")
    run_id = answer.json()["metadata"]["run_id"]

    def stream(**headers: str) -> Iterator[str]:
        headers |= {"HTTP_ACCEPT": "text/event-stream", "HTTP_AUTHORIZATION": f"Bearer {token_text}"}
        response = client.get(f"/api/v1/runs/{run_id}/events", **headers)
        return (block.decode() for block in response.streaming_content if block.startswith(b"id:"))

    def work() -> None:
        queue_work("default")
        connections.close_all()

    worker = threading.Thread(target=work)
    worker.start()
    lost = stream()
    heard = list(itertools.takewhile(lambda block: '"first"' not in block, lost))
    assert Run.objects.get().status == Status.RUNNING
    # The part that was heard last is the one that `takewhile` took away.
    last = len(heard) + 1
    fifo.write_bytes(b"")
    polled = ask(f"{run_id}/events?after={last}&wait=30").json()["events"]
    assert polled[0]["data"]["partial"] == "second"
    worker.join()
    rest = list(stream(HTTP_LAST_EVENT_ID=str(last)))
    assert [block.split("\n")[0] for block in rest] == [f"id: {last + 1}", f"id: {last + 2}"]
    assert '"second"' in rest[0]
    assert '"whole"' in rest[1]


# --- cancel ---


def test_a_run_that_waits_is_cancelled_at_once(ask: Ask, make_run: MakeRun) -> None:
    run = make_run()
    response = ask(f"{run.pk}/cancel", "POST")
    assert (response.status_code, response.json()) == (200, {"cancelled": True})
    run.refresh_from_db()
    assert (run.status, run.error["code"], run.started_at) == (Status.CANCELLED, "CANCELLED", None)
    kinds = list(Event.objects.filter(run_id=run.pk).order_by("id").values_list("kind", flat=True))
    assert kinds == ["run.cancel_asked", "run.outcome"]
    assert bytes(run.outcome_leaf) == bytes(Event.objects.latest("id").leaf)
    assert queue_work("default") == 0


def test_a_run_that_the_reaper_gave_back_is_cancelled_at_once_too(ask: Ask, leased: Any) -> None:
    run = leased("fx_echo").run
    assert reap() == 1
    assert ask(f"{run.pk}/cancel", "POST").json() == {"cancelled": True}
    run.refresh_from_db()
    assert run.status == Status.CANCELLED


@pytest.mark.parametrize("status", [Status.COMPLETED, Status.FAILED, Status.TIMEOUT, Status.CANCELLED])
def test_a_run_with_an_outcome_cannot_be_cancelled(ask: Ask, make_run: MakeRun, status: Status) -> None:
    run = make_run(status=status)
    before = Event.objects.count()
    assert ask(f"{run.pk}/cancel", "POST").json() == {"cancelled": False}
    run.refresh_from_db()
    assert (run.status, run.cancel_asked_at, Event.objects.count()) == (status, None, before)


def test_a_running_run_is_asked_to_stop(ask: Ask, leased: Any) -> None:
    run = leased("fx_slow").run
    assert ask(f"{run.pk}/cancel", "POST").json() == {"cancelled": True}
    run.refresh_from_db()
    assert run.status == Status.RUNNING
    assert run.cancel_asked_at is not None


def test_a_run_whose_outcome_is_unknown_has_nothing_left_to_stop(ask: Ask, make_run: MakeRun) -> None:
    run = make_run(status=Status.OUTCOME_UNKNOWN)
    assert ask(f"{run.pk}/cancel", "POST").json() == {"cancelled": False}
