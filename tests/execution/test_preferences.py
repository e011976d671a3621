"""Prefer (RFC 7240) and ?wait=: how long a caller waits, and what it gets meanwhile."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from core.errors import InvalidRequest
from execution.engine.submit import Manner
from execution.engine.waiters import WAITERS
from execution.engine.waiting import run_await
from execution.models import Run, Status
from execution.runs.preferences import manner_read, wait_read
from registry.models import Package
from security.models import Persona
from tests.execution.fixtures import MakeRun

Call = Callable[..., Any]

HEADERS = [
    ("", 30, False),
    ("wait=10", 10, False),
    ("wait=0", 0, False),
    ('wait="7"', 7, False),
    ("WAIT = 5", 5, False),
    ("wait=121", 120, False),
    ("wait=999999999", 120, False),
    ("respond-async", 30, True),
    ("Respond-Async, wait=10", 10, True),
    ("handling=lenient, wait=100, respond-async", 100, True),
    ("wait=5, wait=9", 5, False),
    ("wait=-1", 30, False),
    ("wait=soon", 30, False),
    ("wait=1.5", 30, False),
    ("wait", 30, False),
    ("return=minimal", 30, False),
    (",,, ,", 30, False),
    ("wait=9999999999999999", 30, False),
]


@pytest.mark.parametrize(("header", "seconds", "detached"), HEADERS)
def test_a_header_is_read_and_what_is_unknown_in_it_ignored(
    header: str, seconds: float, detached: bool
) -> None:
    assert manner_read(header) == Manner(seconds, detached)


@pytest.mark.parametrize(("text", "seconds"), [(None, 0), ("0", 0), ("5", 5), ("120", 120), ("500", 120)])
def test_a_query_is_read(text: str | None, seconds: float) -> None:
    assert wait_read(text) == seconds


@pytest.mark.parametrize("text", ["", "-1", "1.5", "soon", "1 ", "9999999999"])
def test_a_query_that_is_no_number_of_seconds_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        wait_read(text)


@pytest.mark.django_db
def test_respond_async_is_202_with_the_runs_address(
    call: Call, fx: Package, client: Client, token_text: str
) -> None:
    response = call("fx_echo", {"value": 1}, HTTP_PREFER="respond-async")
    assert response.status_code == 202
    run = Run.objects.get()
    assert response["Location"] == f"/api/v1/runs/{run.pk}"
    assert int(response["Retry-After"]) > 0
    assert response["Preference-Applied"] == "respond-async"
    body = response.json()
    assert (body["success"], body["data"], body["error"]) == (None, None, None)
    assert (body["metadata"]["status"], body["metadata"]["audit_leaf"]) == ("pending", None)
    assert (run.status, run.inline) == (Status.PENDING, False)
    again = client.get(response["Location"], HTTP_AUTHORIZATION=f"Bearer {token_text}")
    assert again.status_code == 200
    assert {name: again.json()[name] for name in body} == body


@pytest.mark.django_db
def test_who_does_not_wait_gets_202(call: Call, fx: Package) -> None:
    response = call("fx_echo", {"value": 1}, HTTP_PREFER="wait=0")
    assert (response.status_code, response.json()["metadata"]["status"]) == (202, "pending")


@pytest.mark.django_db
def test_a_tool_slower_than_the_wait_goes_to_a_worker(call: Call, fx: Package) -> None:
    """fx_slow may take 20 s, longer than what is served in the web process; nobody works here."""
    response = call("fx_slow", {"fifo": "none", "seconds": 1}, HTTP_PREFER="wait=1")
    assert (response.status_code, response.json()["metadata"]["status"]) == (202, "pending")


@pytest.mark.django_db
def test_with_the_short_way_off_all_goes_to_workers(call: Call, fx: Package, settings: Any) -> None:
    settings.INLINE = False
    response = call("fx_echo", {"value": 1}, HTTP_PREFER="wait=0")
    assert response.status_code == 202
    assert Run.objects.get().inline is False


@pytest.mark.django_db
def test_waiters_beyond_the_bound_get_the_state_of_now(call: Call, fx: Package, settings: Any) -> None:
    settings.WAITERS_MAX = 0
    response = call("fx_slow", {"fifo": "none", "seconds": 1})
    assert response.status_code == 202
    assert int(response["Retry-After"]) >= 10  # a crowd that asks each second would be worse
    settings.WAITERS_MAX = 1
    response = call("fx_slow", {"fifo": "none", "seconds": 1}, HTTP_PREFER="respond-async")
    assert response["Retry-After"] == "1"


@pytest.mark.django_db
def test_nobody_waits_for_an_outcome_that_only_a_person_can_tell(make_run: MakeRun, persona: Persona) -> None:
    run = make_run("fx_count", Status.OUTCOME_UNKNOWN, attempt=1, started=True)
    assert run_await(run, persona.pk, 3600).status == Status.OUTCOME_UNKNOWN
    assert WAITERS.wait(run.pk, 3600)
