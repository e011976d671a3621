"""POST tools/{name}/execute: what comes back, and what stays behind."""

import hashlib
import json
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
import rfc8785
from django.test import Client

from audit.models import Event
from execution.engine.brief import attempts_of, events_of
from execution.models import Attempt, Run, RunEvent
from registry.models import Package

pytestmark = pytest.mark.django_db
Call = Callable[..., Any]
Assign = Callable[[str], None]


def test_a_call_answers_with_the_envelope_of_the_contract(call: Call, assign: Assign) -> None:
    assign("echo")
    response = call("echo", {"text": "hello"})
    assert (response.status_code, response["Content-Type"]) == (200, "application/json")
    body = response.json()
    assert set(body) == {"success", "data", "error", "metadata"}
    assert (body["success"], body["data"], body["error"]) == (True, {"text": "hello"}, None)
    meta = body["metadata"]
    assert (meta["tool"], meta["version"], meta["status"]) == ("echo", "1.0.0", "completed")
    assert (meta["attempts"], meta["degraded"], meta["sandbox"]) == (1, False, "none")
    assert meta["warnings"] == []
    run = Run.objects.get()
    assert meta["run_id"] == str(run.pk)
    started, completed = (datetime.fromisoformat(meta[name]) for name in ("started_at", "completed_at"))
    assert started <= completed
    assert meta["started_at"].endswith("Z")
    assert 0 <= meta["duration_ms"] < 60_000


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -0.0,
        5.0,
        1e21,
        1e-7,
        0.1,
        9007199254740991,
        "",
        "a\x00b",
        "é\u2028\U0001f600",
        [],
        {},
        [1, [2, [3]]],
        {"b": 1, "a": {"\U0001f600": 1, "\ue000": 2}, "": None},
        {"z": [1.5, None, "x", {"y": 2}]},
    ],
    ids=repr,
)
def test_the_hash_is_over_the_very_bytes_that_the_caller_gets(call: Call, fx: Package, value: Any) -> None:
    response = call("fx_echo", {"value": value})
    assert response.status_code == 200
    expected = rfc8785.dumps(value)
    meta = response.json()["metadata"]
    assert meta["result_hash"] == hashlib.sha256(expected).hexdigest()
    assert b'"data":' + expected + b',"error":null' in response.content
    assert meta["arguments_hash"] == hashlib.sha256(rfc8785.dumps({"value": value})).hexdigest()
    assert bytes(Run.objects.get().result_hash or b"").hex() == meta["result_hash"]


def test_the_same_call_gives_the_same_bytes_whatever_the_order_of_its_members(
    call: Call, fx: Package
) -> None:
    first = call("fx_echo", body=b'{"arguments":{"value":{"a":1,"b":2.0}}}').json()
    second = call("fx_echo", body=b'{"arguments":{"value":{"b":2,"a":1}}}').json()
    for name in ("arguments_hash", "result_hash"):
        assert first["metadata"][name] == second["metadata"][name]


def test_a_tool_that_fails_is_200_with_its_own_error(call: Call, fx: Package) -> None:
    response = call("fx_refuse", {"details": [1, {"a": None}]})
    assert response.status_code == 200
    body = response.json()
    assert (body["success"], body["data"], body["metadata"]["status"]) == (False, None, "failed")
    assert body["error"] == {
        "code": "FX_REFUSED",
        "type": "execution",
        "severity": "medium",
        "message": "Refused on purpose.",
        "recoverable": False,
        "retryable": True,
        "suggestions": ["Try again."],
        "details": {"given": [1, {"a": None}]},
    }
    assert body["metadata"]["result_hash"] is None
    assert body["metadata"]["audit_leaf"]


FAULTS = [
    ("fx_badout", {}, "INVALID_OUTPUT"),
    ("fx_big", {"size": 99}, "RESOURCE_EXCEEDED"),
    ("fx_boom", {}, "EXECUTION_FAILED"),
    ("fx_exit", {}, "EXECUTION_FAILED"),
    ("fx_cancelled", {}, "EXECUTION_FAILED"),
    ("fx_baderror", {}, "INVALID_OUTPUT"),
]


@pytest.mark.parametrize(("tool", "arguments", "code"), FAULTS)
def test_whatever_a_tool_does_is_one_outcome(
    call: Call, fx: Package, tool: str, arguments: dict[str, Any], code: str
) -> None:
    response = call(tool, arguments)
    assert response.status_code == 200
    body = response.json()
    assert (body["success"], body["error"]["code"], body["metadata"]["status"]) == (False, code, "failed")
    assert body["data"] is None
    for leak in ("hunter2", "/srv/", "Traceback"):
        assert leak not in response.content.decode()
    assert Run.objects.get().error["code"] == code
    assert attempts_of(Run.objects.get())[0].error_code == code
    assert Event.objects.filter(kind="run.outcome").count() == 1


def test_output_up_to_its_bound_is_whole(call: Call, fx: Package) -> None:
    """98 characters and two quotes are 100 octets of JSON."""
    assert call("fx_big", {"size": 98}).json()["data"] == "x" * 98


def test_an_output_that_does_not_fit_is_pointed_to(call: Call, fx: Package) -> None:
    assert call("fx_badout", {}).json()["error"]["details"]["errors"][0]["pointer"] == "/attempt"


def test_an_argument_reaches_the_tool_as_its_annotation_says(call: Call, fx: Package) -> None:
    """2026-01-01 is a Thursday."""
    assert call("fx_weekday", {"moment": "2026-01-01T12:00:00Z"}).json()["data"] == 4


def test_a_tool_that_takes_longer_than_it_may_is_a_timeout(call: Call, fx: Package) -> None:
    body = call("fx_sleep", body={"arguments": {"seconds": 0.2}, "limits": {"timeoutMs": 50}}).json()
    assert (body["success"], body["error"]["code"], body["metadata"]["status"]) == (
        False,
        "TIMEOUT",
        "timeout",
    )
    assert body["data"] is None


def test_the_caller_of_a_tool_that_hangs_is_answered_in_time(call: Call, fx: Package) -> None:
    begun = time.monotonic()
    body = call("fx_sleep", body={"arguments": {"seconds": 4}, "limits": {"timeoutMs": 100}}).json()
    assert body["error"]["code"] == "TIMEOUT"
    assert time.monotonic() - begun < 3.5


def test_time_and_chance_of_a_bounded_tool_are_the_runs_own(call: Call, fx: Package) -> None:
    first, second = (call("fx_bounded", {}).json() for _ in range(2))
    assert first["data"][0] == first["data"][1] == first["metadata"]["started_at"]
    assert 0 <= first["data"][2] < 1
    assert first["data"][2] != second["data"][2]


def test_the_callers_context_reaches_the_tool_and_is_recorded(call: Call, fx: Package) -> None:
    context = {"session_id": "s1", "agent_id": "a1", "project": {"deep": [1]}}
    given = {"context": context, "context_data": {"k": "v"}, "hints": {"h": 1}}
    body = call("fx_context", body={"arguments": {}, **given}).json()
    assert body["data"] == {
        "tool": "fx_context",
        "version": "1.0.0",
        "session_id": "s1",
        "agent_id": "a1",
        "project": {"deep": [1]},
        "context_data": {"k": "v"},
        "hints": {"h": 1},
        "attempt": 1,
    }
    assert Run.objects.get().request == given


def test_context_members_are_default_when_absent(call: Call, fx: Package) -> None:
    data = call("fx_context", {}).json()["data"]
    assert (data["session_id"], data["agent_id"], data["project"]) == ("default", "default", None)


def test_a_call_that_is_over_at_once_leaves_one_row_and_two_entries_of_the_ledger(
    call: Call, fx: Package
) -> None:
    before = Event.objects.count()
    call("fx_echo", {"value": 1})
    assert (Run.objects.count(), Attempt.objects.count(), RunEvent.objects.count()) == (1, 0, 0)
    run = Run.objects.get()
    assert (len(attempts_of(run)), len(events_of(run)), run.events_count) == (1, 3, 3)
    assert list(Event.objects.order_by("id").values_list("kind", flat=True))[before:] == [
        "run.accepted",
        "run.outcome",
    ]


def test_the_ledger_tells_of_the_call_without_its_payload(call: Call, fx: Package, admin: Any) -> None:
    value = "a value that nobody else may read"
    meta = call("fx_echo", {"value": value}).json()["metadata"]
    run = Run.objects.get()
    accepted, outcome = Event.objects.filter(run_id=run.pk).order_by("id")
    for event in (accepted, outcome):
        assert value not in event.canonical
        assert meta["arguments_hash"] not in event.canonical
        assert meta["result_hash"] not in event.canonical
        assert bytes(event.leaf) == hashlib.sha256(b"\x00" + event.canonical.encode()).digest()
    assert bytes(outcome.leaf).hex() == meta["audit_leaf"] == bytes(run.outcome_leaf or b"").hex()
    told = json.loads(accepted.canonical)
    assert told["actor"] == {"kind": "persona", "id": str(run.persona_id), "name": "researcher"}
    assert (told["run"], told["subject"]) == (str(run.pk), {"kind": "tool", "id": "fx_echo"})
    assert told["data"]["responsible"] == "admin"
    assert told["data"]["version_digest"] == run.tool_version.digest


def test_the_commitments_in_the_ledger_can_be_verified_with_the_salt(call: Call, fx: Package) -> None:
    call("fx_echo", {"value": [1, "é"]})
    run = Run.objects.get()
    accepted, outcome = (
        json.loads(e.canonical)["data"] for e in Event.objects.filter(run_id=run.pk).order_by("id")
    )
    salt = bytes(run.salt)
    assert len(salt) == 16

    def committed(value: Any) -> str:
        return hashlib.sha256(salt + hashlib.sha256(rfc8785.dumps(value)).digest()).hexdigest()

    assert accepted["arguments"] == committed({"value": [1, "é"]})
    assert outcome["result"] == committed([1, "é"])
    events = [
        {"seq": e.seq, "kind": e.kind, "at": e.at.strftime("%Y-%m-%dT%H:%M:%S.%f+00:00"), "data": e.data}
        for e in events_of(run)
    ]
    assert outcome["events"] == committed(events)


def test_two_calls_with_equal_arguments_have_other_commitments(call: Call, fx: Package) -> None:
    for _ in range(2):
        call("fx_echo", {"value": 1})
    told = [json.loads(e.canonical)["data"]["arguments"] for e in Event.objects.filter(kind="run.accepted")]
    assert len(set(told)) == 2


def test_only_post_executes(client: Client, token_text: str) -> None:
    response = client.get("/api/v1/tools/echo/execute", HTTP_AUTHORIZATION=f"Bearer {token_text}")
    assert response.status_code == 405
    assert "POST" in response["Allow"]
