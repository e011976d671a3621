"""Tools from outside through the whole hub: called over the API, run by a real worker."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit.models import Event
from execution.engine.expiry import payloads_expire
from execution.models import Attempt, Run, Status
from registry.services import assignment_create
from security.models import Persona, User
from tests.processes import wait_for
from tests.sandbox.conftest import processes_with
from tests.sandbox.packages import box_publish, net_publish
from tests.workers.conftest import standing, worker

pytestmark = [pytest.mark.sandbox, pytest.mark.broker, pytest.mark.timeout(180)]
__all__ = ["standing", "worker"]
Call = Callable[..., Any]
Ask = Callable[..., Any]


@pytest.fixture
def box(admin: User, persona: Persona) -> None:
    """The Python package, assigned to the persona."""
    assignment_create(by=admin, persona=persona, package=box_publish())


@pytest.fixture
def ask(client: Client, token_text: str) -> Ask:
    """A request of the persona about a run."""

    def do(method: str, path: str) -> Any:
        address = f"/api/v1/runs/{path}"
        return client.generic(method, address, HTTP_AUTHORIZATION=f"Bearer {token_text}").json()

    return do


def began(call: Call, tool: str, arguments: Any) -> str:
    """The id of a run whose tool has sent its first part."""
    answer = call(tool, arguments, HTTP_PREFER="respond-async").json()
    run: str = answer["metadata"]["run_id"]
    wait_for(lambda: Run.objects.get(pk=run).events.filter(kind="TOOL_CALL_PROGRESS").exists(), 60)
    return run


def test_a_tool_from_outside_is_carried_out_by_a_worker_in_the_sandbox(
    worker: None, box: None, call: Call, ask: Ask
) -> None:
    answer = call("box_parts", {"count": 2}, HTTP_PREFER="wait=60").json()
    metadata = answer["metadata"]
    assert (answer["success"], answer["data"], metadata["sandbox"]) == (True, 2, "isolated")
    assert metadata["resources"]["max_memory_bytes"] > 0
    run = Run.objects.get(pk=metadata["run_id"])
    assert (run.queue, run.inline) == ("sandbox", False)
    assert Attempt.objects.get(run=run).worker != "web"
    outcome = json.loads(Event.objects.get(kind="run.outcome").canonical)["data"]
    assert outcome["sandbox"] == run.sandbox
    assert (outcome["sandbox"]["level"], len(outcome["sandbox"]["filter"])) == ("isolated", 64)
    assert outcome["sandbox"]["limits"]["processes"] == 64
    parts = [e["data"]["partial"] for e in ask("GET", f"{run.pk}/events")["events"] if "partial" in e["data"]]
    assert parts == [{"part": 0}, {"part": 1}]


def test_the_hosts_that_a_tool_asked_for_stand_in_its_run(
    worker: None, admin: User, persona: Persona, call: Call, ask: Ask, client: Client
) -> None:
    assignment_create(by=admin, persona=persona, package=net_publish(["api.example.org:443"]))
    answer = call("net_get", {"urls": ["http://127.0.0.1:9/secret"]}, HTTP_PREFER="wait=60").json()
    assert answer["data"][0][0] == 403, answer
    host = {"host": "127.0.0.1", "port": 9, "allowed": False, "why": "not in network.allow"}
    host |= {"times": 1, "sent": 0, "received": 0}
    run = Run.objects.get(pk=answer["metadata"]["run_id"])
    events = [(e["event"], e["data"]) for e in ask("GET", f"{run.pk}/events")["events"]]
    assert ("NETWORK_REACHED", {"hosts": [host]}) in events
    assert json.loads(Event.objects.get(kind="run.outcome").canonical)["data"]["sandbox"]["network"] == [host]
    client.force_login(admin)
    page = client.get(f"/runs/{run.pk}/").content.decode()
    assert "<code>127.0.0.1:9</code>" in page
    assert "(not in network.allow)" in page
    assert "secret" not in str(run.sandbox)


def test_parts_can_be_read_while_the_tool_works_and_a_cancel_reaches_it(
    worker: None, box: None, call: Call, ask: Ask
) -> None:
    run = began(call, "box_wait", {})
    assert Run.objects.get(pk=run).status == Status.RUNNING
    assert ask("POST", f"{run}/cancel") == {"cancelled": True}
    answer = ask("GET", f"{run}?wait=60")
    assert (answer["metadata"]["status"], answer["error"]["code"]) == ("cancelled", "CANCELLED")
    events = ask("GET", f"{run}/events")["events"]
    assert "saw the signal" in [e["data"].get("partial") for e in events]


def test_what_a_tool_prints_can_be_read_while_it_works_and_goes_with_the_payload(
    worker: None, box: None, admin: User, call: Call, ask: Ask, client: Client
) -> None:
    run = call("box_tell", {}, HTTP_PREFER="respond-async").json()["metadata"]["run_id"]

    def printed() -> list[dict[str, Any]]:
        return [e["data"] for e in ask("GET", f"{run}/events")["events"] if e["event"] == "TOOL_CALL_PRINTED"]

    wait_for(printed)
    assert Run.objects.get(pk=run).status == Status.RUNNING
    assert printed() == [{"attempt": 1, "stream": "stderr", "text": "works\n"}]
    assert ask("POST", f"{run}/cancel") == {"cancelled": True}
    assert ask("GET", f"{run}?wait=60")["metadata"]["status"] == "cancelled"
    assert [each["text"] for each in printed()] == ["works\n", "stops\n"]
    client.force_login(admin)
    page = client.get(f"/runs/{run}/").content.decode()
    assert "<code>works\n</code>" in page
    assert page.count("stops") == 2, "as text, and to be copied"
    payloads_expire(timezone.now())
    assert printed() == [{"expired": True}] * 2
    assert "works" not in client.get(f"/runs/{run}/").content.decode()


def test_a_tool_that_left_its_session_is_gone_with_its_run(
    worker: None, box: None, call: Call, ask: Ask
) -> None:
    mark = f"mark-{time.monotonic_ns()}"
    run = began(call, "box_leave", {"mark": mark})
    wait_for(lambda: processes_with(mark))
    ask("POST", f"{run}/cancel")
    assert ask("GET", f"{run}?wait=60")["metadata"]["status"] == "cancelled"
    assert not processes_with(mark)


def test_a_tool_that_dies_of_its_bounds_harms_no_worker(worker: None, box: None, call: Call) -> None:
    workers = set()
    for how in ("grow", "disk", "die", "print"):
        answer = call("box_fail", {"how": how}, HTTP_PREFER="wait=60").json()
        assert answer["success"] is False, answer
        workers.add(Attempt.objects.get(run_id=answer["metadata"]["run_id"]).worker)
    assert call("box_echo", {"value": 1}, HTTP_PREFER="wait=60").json()["data"] == 1
    assert len(workers) <= 2, "the processes of the one worker, as they were started"
