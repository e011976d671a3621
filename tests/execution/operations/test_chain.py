"""execute_chain: order, mapping, failures, and what stands in the runs."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from audit.models import Event
from execution.engine.perform import queue_work
from execution.entry.operations import chain
from execution.models import Run
from security.models import Token
from tests.execution.operations.conftest import Operate

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("tools")]


def echo(name: str, *needs: str, text: str = "") -> dict[str, Any]:
    return {"id": name, "toolName": "echo", "arguments": {"text": text or name}, "dependsOn": list(needs)}


BOOM = {"toolName": "fx_boom"}


def ran() -> list[str]:
    """The texts that echo was called with, in order."""
    return [run.arguments["text"] for run in Run.objects.filter(tool="echo").order_by("created_at", "id")]


def steps(answer: Any) -> list[tuple[str, str]]:
    return [(step["id"], step["status"]) for step in answer.json()["flow"]["steps"]]


def test_a_chain_adds_its_members_to_the_answer(operate: Operate) -> None:
    answer = operate("execute_chain", calls=[echo("a"), echo("b"), echo("c")])
    assert answer.status_code == 200
    body = answer.json()
    assert (body["operation"], body["status"], body["overall_status"]) == (
        "execute_chain",
        "completed",
        "success",
    )
    assert [result["output"] for result in body["results"]] == [{"text": "a"}, {"text": "b"}, {"text": "c"}]
    assert body["flow"]["type"] == "sequential"
    assert body["flow"]["order"] == "given"
    assert steps(answer) == [("a", "success"), ("b", "success"), ("c", "success")]
    runs = list(Run.objects.all())
    assert body["total_duration_ms"] >= sum(run.duration_ms or 0 for run in runs)
    expected = sum(run.resources["cpu_ms"] for run in runs)
    assert body["total_resources"]["cpu_ms"] == pytest.approx(expected, abs=0.01)


def test_auto_sorts_by_dependencies(operate: Operate) -> None:
    answer = operate("execute_chain", order="auto", calls=[echo("c", "b"), echo("a"), echo("b", "a")])
    assert answer.json()["overall_status"] == "success"
    assert ran() == ["a", "b", "c"]
    assert steps(answer) == [("a", "success"), ("b", "success"), ("c", "success")]
    assert [result["index"] for result in answer.json()["results"]] == [1, 2, 0]


def test_auto_keeps_the_given_order_where_it_may(operate: Operate) -> None:
    operate("execute_chain", order="auto", calls=[echo("d"), echo("c", "a"), echo("b"), echo("a")])
    assert ran() == ["d", "b", "a", "c"]


def pointers(answer: Any) -> list[str]:
    assert answer.status_code == 422
    assert not Run.objects.exists()
    return [error["pointer"] for error in answer.json()["errors"]]


def test_a_circle_is_422_and_names_only_its_calls(operate: Operate) -> None:
    calls = [echo("free"), echo("a", "b"), echo("b", "a"), echo("after", "a")]
    answer = operate("execute_chain", order="auto", calls=calls)
    assert pointers(answer) == ["/calls/1", "/calls/2"]


def test_a_call_that_needs_itself_is_a_circle(operate: Operate) -> None:
    assert pointers(operate("execute_chain", order="auto", calls=[echo("a", "a")])) == ["/calls/0"]


def mapped(name: str, source: str, pointer: str = "/text") -> dict[str, Any]:
    return {"id": name, "toolName": "echo", "mapping": {"text": {"from": source, "pointer": pointer}}}


@pytest.mark.parametrize(
    ("members", "place"),
    [
        ({"calls": [echo("a"), echo("b", "a", "x")]}, "/calls/1/dependsOn/1"),
        ({"calls": [echo("a"), mapped("b", "x")]}, "/calls/1/mapping/text/from"),
        ({"calls": [echo("a"), echo("a")]}, "/calls/1/id"),
        ({"calls": [echo("a"), {"id": "0", "toolName": "echo"}, {"toolName": "echo"}]}, None),
        ({"calls": [echo("b", "a"), echo("a")]}, "/calls/0"),
        ({"calls": [mapped("b", "a"), echo("a")]}, "/calls/0"),
        ({"calls": [echo("a"), mapped("b", "a") | {"arguments": {"text": "t"}}]}, "/calls/1/mapping/text"),
        ({"calls": [echo("a"), mapped("b", "a", "text")]}, "/calls/1/mapping/text/pointer"),
        ({"calls": [echo("a"), mapped("b", "a", "/~2")]}, "/calls/1/mapping/text/pointer"),
        ({"calls": []}, "/calls"),
        ({"calls": [echo("a")] * 51}, "/calls"),
        ({"calls": [echo("a") | {"parallel": True}]}, "/calls/0/parallel"),
        ({"calls": [echo("a")], "order": "random"}, "/order"),
        ({"calls": [echo("a")], "stopOnError": "no"}, "/stopOnError"),
        ({"calls": [echo("a")], "parameters": {}}, "/parameters"),
        ({"calls": [{"id": "a"}]}, "/calls/0"),
    ],
)
def test_a_malformed_chain_is_422_before_anything_runs(
    operate: Operate, members: dict[str, Any], place: str | None
) -> None:
    if place is None:  # ids by default are indexes, and these are three different ones
        assert operate("execute_chain", **members).status_code == 200
        return
    assert place in pointers(operate("execute_chain", **members))


def test_an_argument_is_taken_from_an_earlier_output(operate: Operate) -> None:
    call = {"id": "b", "toolName": "hash", "mapping": {"text": {"from": "a", "pointer": "/text"}}}
    answer = operate("execute_chain", order="auto", calls=[call, echo("a", text="abc")])
    # BLAKE3 of "abc", from the reference implementation's b3sum.
    digest = "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"
    assert answer.json()["results"][1]["output"]["hash"] == digest
    assert answer.json()["flow"]["steps"][1]["depends_on"] == ["a"]


def test_a_whole_output_can_be_an_argument(operate: Operate) -> None:
    call = {"id": "b", "toolName": "fx_echo", "mapping": {"value": {"from": "a", "pointer": ""}}}
    answer = operate("execute_chain", calls=[echo("a"), call])
    assert answer.json()["results"][1]["output"] == {"text": "a"}


def test_an_output_without_that_place_fails_the_call(operate: Operate) -> None:
    answer = operate("execute_chain", calls=[echo("a"), mapped("b", "a", "/none")])
    result = answer.json()["results"][1]
    assert (answer.json()["overall_status"], result["status"], result["execution_id"]) == (
        "partial",
        "failure",
        None,
    )
    assert result["error"]["code"] == "INVALID_ARGUMENTS"
    assert result["error"]["details"]["errors"][0]["pointer"] == "/calls/1/mapping/text"
    assert ran() == ["a"]


def test_a_mapped_output_may_not_be_larger_than_a_request(operate: Operate) -> None:
    big = [{"from": "a", "pointer": "/text"}] * 2
    calls = [
        echo("a", text="x" * 600_000),
        {"id": "b", "toolName": "hash", "mapping": dict(zip(("text", "base64"), big, strict=True))},
    ]
    result = operate("execute_chain", calls=calls).json()["results"][1]
    assert result["error"]["code"] == "TOO_LARGE"


def test_one_of_three_fails_and_the_chain_stops(operate: Operate) -> None:
    answer = operate("execute_chain", calls=[echo("a"), BOOM, echo("c")])
    body = answer.json()
    assert (answer.status_code, body["status"], body["overall_status"]) == (200, "failed", "partial")
    assert [result["status"] for result in body["results"]] == ["success", "failure"]
    assert steps(answer) == [("a", "success"), ("1", "failure"), ("c", "skipped")]
    assert [(error["index"], error["code"]) for error in body["errors"]] == [(1, "EXECUTION_FAILED")]
    assert ran() == ["a"]


def test_without_stopping_the_rest_runs(operate: Operate) -> None:
    answer = operate("execute_chain", stopOnError=False, calls=[echo("a"), BOOM, echo("c")])
    assert answer.json()["overall_status"] == "partial"
    assert [result["status"] for result in answer.json()["results"]] == ["success", "failure", "success"]
    assert ran() == ["a", "c"]


def test_without_stopping_what_depends_on_a_failure_is_skipped(operate: Operate) -> None:
    calls = [BOOM | {"id": "x"}, echo("a", "x"), echo("b", "a"), mapped("c", "x"), echo("d")]
    answer = operate("execute_chain", stopOnError=False, calls=calls)
    assert steps(answer) == [
        ("x", "failure"),
        ("a", "skipped"),
        ("b", "skipped"),
        ("c", "skipped"),
        ("d", "success"),
    ]
    assert ran() == ["d"]
    assert len(answer.json()["warnings"]) == 3


def test_all_failing_is_failure(operate: Operate) -> None:
    answer = operate("execute_chain", stopOnError=False, calls=[BOOM, BOOM, BOOM])
    assert (answer.json()["status"], answer.json()["overall_status"]) == ("failed", "failure")


@pytest.mark.parametrize(
    ("call", "code", "pointer"),
    [
        ({"toolName": "none"}, "TOOL_NOT_FOUND", None),
        ({"toolName": "fx_capable"}, "CAPABILITY_MISSING", None),
        ({"toolName": "echo", "arguments": {"text": 1}}, "INVALID_ARGUMENTS", "/calls/1/arguments/text"),
    ],
)
def test_what_refuses_one_call_is_that_results_error(
    operate: Operate, call: dict[str, Any], code: str, pointer: str | None
) -> None:
    answer = operate("execute_chain", calls=[echo("a"), call, echo("c")], stopOnError=False)
    assert answer.status_code == 200
    result = answer.json()["results"][1]
    assert (result["status"], result["execution_id"], result["output"]) == ("failure", None, None)
    assert result["error"]["code"] == code
    assert ("decision" in result["error"]["details"]) == (code == "CAPABILITY_MISSING")
    found = [error["pointer"] for error in result["error"]["details"].get("errors", [])]
    assert found == ([pointer] if pointer else [])
    assert ran() == ["a", "c"]
    assert Event.objects.filter(kind="run.refused").count() == 1


def test_every_run_of_a_chain_carries_its_id_and_the_callers_task(operate: Operate) -> None:
    answer = operate("execute_chain", calls=[echo("a"), echo("b")], context={"taskId": "mine"})
    chain_id = answer.json()["chain_id"]
    runs = Run.objects.order_by("created_at", "id")
    assert [run.request["chain"] for run in runs] == [
        {"id": chain_id, "step": 0},
        {"id": chain_id, "step": 1},
    ]
    assert {run.request["context"]["task_id"] for run in runs} == {"mine"}


def test_a_caller_cannot_set_the_chain(call: Callable[..., Any]) -> None:
    body = {"arguments": {"text": "a"}, "chain": {"id": "x", "step": 0}}
    assert call("echo", body=body).json()["error"]["code"] == "UNKNOWN_MEMBER"


def test_a_key_repeated_returns_the_runs_of_the_chain(operate: Operate, tmp_path: Path) -> None:
    file = tmp_path / "world"
    calls = [{"toolName": "fx_count", "arguments": {"file": str(file)}}, echo("b")]
    key = {"HTTP_IDEMPOTENCY_KEY": "k"}
    # fx_count may take 20 s, so only a worker carries it out: it stays pending here.
    first = operate("execute_chain", calls=calls, headers={**key, "HTTP_PREFER": "wait=0"})
    queue_work("default")
    second = operate("execute_chain", calls=calls, headers=key)
    third = operate("execute_chain", calls=calls, headers=key)
    assert first.json()["chain_id"] == second.json()["chain_id"] == third.json()["chain_id"]
    assert second.json()["overall_status"] == third.json()["overall_status"] == "success"
    assert len(file.read_text().splitlines()) == 1
    assert Run.objects.count() == 2


def test_an_empty_key_is_refused(operate: Operate) -> None:
    answer = operate("execute_chain", calls=[echo("a")], headers={"HTTP_IDEMPOTENCY_KEY": ""})
    assert answer.status_code == 422


def test_a_run_that_outlasts_the_wait_ends_the_chain_and_goes_on(operate: Operate, settings: Any) -> None:
    settings.INLINE = False
    answer = operate("execute_chain", calls=[echo("a"), echo("b")], headers={"HTTP_PREFER": "wait=0"})
    body = answer.json()
    assert answer.status_code == 202
    assert answer["Location"] == f"/api/v1/runs/{Run.objects.get().pk}"
    assert (body["status"], body["overall_status"]) == ("pending", None)
    assert [result["status"] for result in body["results"]] == [None]
    assert steps(answer) == [("a", None), ("b", "skipped")]
    assert body["warnings"][0]["message"].startswith("'b' was not started.")


def test_rights_that_are_taken_away_meanwhile_stop_the_next_call(
    operate: Operate, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit = chain.run_submit

    def submit_then_revoke(**call: Any) -> Run:
        run = submit(**call)
        Token.objects.update(revoked_at=timezone.now())
        return run

    monkeypatch.setattr(chain, "run_submit", submit_then_revoke)
    body = operate("execute_chain", calls=[echo("a"), echo("b")], stopOnError=False).json()
    assert [result["status"] for result in body["results"]] == ["success", "failure"]
    assert body["results"][1]["error"]["code"] == "UNAUTHENTICATED"
    assert ran() == ["a"]


@pytest.mark.django_db(transaction=True)
def test_a_chain_goes_on_when_a_worker_has_finished_a_call(
    operate: Operate, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.INLINE = False
    rung = threading.Semaphore(0)
    monkeypatch.setattr("execution.engine.bells.ring", lambda queue: rung.release())

    def work() -> None:
        for _ in range(2):
            if rung.acquire(timeout=30):
                queue_work("default")
        connection.close()

    worker = threading.Thread(target=work)
    worker.start()
    answer = operate("execute_chain", calls=[echo("a"), mapped("b", "a")])
    worker.join()
    assert answer.status_code == 200
    assert answer.json()["overall_status"] == "success"
    assert answer.json()["results"][1]["output"] == {"text": "a"}
    assert set(Run.objects.values_list("inline", flat=True)) == {False}
