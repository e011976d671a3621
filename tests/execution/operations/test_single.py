"""execute_single: S4's form of one call."""

from typing import Any

import pytest

from execution.models import Run
from tests.execution.operations.conftest import Operate

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("tools")]


def test_the_answer_has_s4s_shape(operate: Operate) -> None:
    answer = operate("execute_single", parameters={"toolName": "echo", "arguments": {"text": "a"}})
    assert answer.status_code == 200
    body = answer.json()
    assert list(body) == [
        "operation",
        "status",
        "results",
        "orchestration_result",
        "metadata",
        "errors",
        "warnings",
    ]
    assert (body["operation"], body["status"]) == ("execute_single", "completed")
    assert (body["orchestration_result"], body["errors"], body["warnings"]) == (None, [], [])
    assert {"started_at", "completed_at", "duration_ms"} == set(body["metadata"])
    [result] = body["results"]
    run = Run.objects.get()
    assert result["tool_name"] == "echo"
    assert result["execution_id"] == str(run.pk) == result["metadata"]["run_id"]
    assert (result["status"], result["output"], result["error"]) == ("success", {"text": "a"}, None)
    assert result["duration_ms"] == run.duration_ms
    assert result["resources_used"] == run.resources == result["metadata"]["resources"]


def test_a_tools_failure_is_told_in_result_and_errors(operate: Operate) -> None:
    answer = operate("execute_single", parameters={"toolName": "fx_refuse", "arguments": {"details": 1}})
    assert answer.status_code == 200
    body = answer.json()
    assert (body["status"], body["results"][0]["status"]) == ("failed", "failure")
    assert body["results"][0]["error"]["code"] == "FX_REFUSED"
    [error] = body["errors"]
    assert error == {"index": 0, "id": "0", "tool_name": "fx_refuse", **body["results"][0]["error"]}


def test_a_timeout_has_s4s_word(operate: Operate) -> None:
    answer = operate(
        "execute_single",
        parameters={"toolName": "fx_sleep", "arguments": {"seconds": 0.05}},
        options={"timeoutMs": 10},
    )
    assert (answer.json()["status"], answer.json()["results"][0]["status"]) == ("timeout", "timeout")


def test_s4s_members_reach_the_tool_in_ours(operate: Operate) -> None:
    answer = operate(
        "execute_single",
        parameters={
            "toolName": "fx_context",
            "version": "1.0",
            "arguments": {},
            "contextData": {"a": 1},
            "executionHints": {"fast": True},
        },
        context={"sessionId": "s", "agentId": "g", "taskId": "t", "projectContext": {"name": "p"}},
        options={"timeoutMs": 500, "maxOutputBytes": 900, "isolationLevel": "basic"},
    )
    assert answer.json()["results"][0]["output"] == {
        "tool": "fx_context",
        "version": "1.0.0",
        "session_id": "s",
        "agent_id": "g",
        "project": {"name": "p"},
        "context_data": {"a": 1},
        "hints": {"fast": True},
        "attempt": 1,
    }
    run = Run.objects.get()
    assert run.request == {
        "context": {"session_id": "s", "agent_id": "g", "task_id": "t", "project": {"name": "p"}},
        "context_data": {"a": 1},
        "hints": {"fast": True},
        "limits": {"timeoutMs": 500, "maxOutputBytes": 900},
        "isolation_level": "basic",
    }
    assert (run.timeout_ms, run.max_output_bytes) == (500, 900)


def test_a_looser_limit_is_ignored_with_a_warning(operate: Operate) -> None:
    answer = operate(
        "execute_single",
        parameters={"toolName": "echo", "arguments": {"text": "a"}},
        options={"timeoutMs": 5000},
    )
    [warning] = answer.json()["warnings"]
    assert (warning["index"], warning["tool_name"]) == (0, "echo")
    assert "timeoutMs" in warning["message"]


ECHO = {"toolName": "echo", "arguments": {"text": "a"}}


@pytest.mark.parametrize(
    ("members", "status", "code", "pointers"),
    [
        ({"parameters": {"toolName": "none"}}, 404, "TOOL_NOT_FOUND", None),
        ({"parameters": {"toolName": "echo@9"}}, 404, "VERSION_NOT_FOUND", None),
        ({"parameters": {"toolName": "fx_capable"}}, 403, "CAPABILITY_MISSING", None),
        (
            {"parameters": {"toolName": "echo", "arguments": {"text": 1}}},
            422,
            "INVALID_ARGUMENTS",
            ["/parameters/arguments/text"],
        ),
        ({"parameters": ECHO, "options": {"isolationLevel": "strict"}}, 422, "SANDBOX_UNAVAILABLE", None),
    ],
)
def test_a_refusal_is_a_problem_as_for_the_tools_own_address(
    operate: Operate, members: dict[str, Any], status: int, code: str, pointers: list[str] | None
) -> None:
    answer = operate("execute_single", **members)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert answer["Content-Type"] == "application/problem+json"
    assert [error["pointer"] for error in answer.json().get("errors", [])] == (pointers or [])
    assert ("decision" in answer.json()) == (status == 403)
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("body", "code", "pointer"),
    [
        ([], "INVALID_REQUEST", None),
        ({}, "INVALID_REQUEST", "/operation"),
        ({"operation": "erase"}, "INVALID_REQUEST", "/operation"),
        ({"operation": "execute_single"}, "INVALID_REQUEST", ""),
        ({"operation": "execute_single", "parameters": []}, "INVALID_REQUEST", "/parameters"),
        ({"operation": "execute_single", "parameters": {}}, "INVALID_REQUEST", "/parameters"),
        (
            {"operation": "execute_single", "parameters": {"toolName": "a\0"}},
            "INVALID_REQUEST",
            "/parameters/toolName",
        ),
        ({"operation": "execute_single", "parameters": ECHO, "a/b": 1}, "UNKNOWN_MEMBER", "/a~1b"),
        (
            {"operation": "execute_single", "parameters": {**ECHO, "context_data": {}}},
            "UNKNOWN_MEMBER",
            "/parameters/context_data",
        ),
        (
            {"operation": "execute_single", "parameters": ECHO, "context": {"executionId": "x"}},
            "UNKNOWN_MEMBER",
            "/context/executionId",
        ),
        (
            {"operation": "execute_single", "parameters": ECHO, "context": {"sessionId": ""}},
            "INVALID_REQUEST",
            "/context/sessionId",
        ),
        (
            {"operation": "execute_single", "parameters": ECHO, "options": {"timeoutMs": 0}},
            "INVALID_REQUEST",
            "/options/timeoutMs",
        ),
        (
            {"operation": "execute_single", "parameters": ECHO, "options": {"isolationLevel": "no"}},
            "INVALID_REQUEST",
            "/options/isolationLevel",
        ),
    ],
)
def test_a_malformed_request_is_422_with_its_place(
    operate: Operate, body: Any, code: str, pointer: str | None
) -> None:
    answer = operate(b"[]" if body == [] else body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, code)
    assert [error["pointer"] for error in answer.json().get("errors", [])] == (
        [] if pointer is None else [pointer]
    )


def test_what_is_not_json_is_400(operate: Operate) -> None:
    assert operate(b"{").status_code == 400


def test_without_a_token_it_is_401(client: Any) -> None:
    assert client.post("/api/v1/execute", {}, content_type="application/json").status_code == 401


def test_a_key_repeated_returns_the_run(operate: Operate) -> None:
    key = {"HTTP_IDEMPOTENCY_KEY": "k"}
    first = operate("execute_single", parameters=ECHO, headers=key).json()
    second = operate("execute_single", parameters=ECHO, headers=key).json()
    assert first["results"][0]["execution_id"] == second["results"][0]["execution_id"]
    other = {"toolName": "echo", "arguments": {"text": "b"}}
    assert operate("execute_single", parameters=other, headers=key).status_code == 409


def test_respond_async_answers_202_with_the_runs_address(operate: Operate) -> None:
    answer = operate("execute_single", parameters=ECHO, headers={"HTTP_PREFER": "respond-async"})
    run = Run.objects.get()
    assert answer.status_code == 202
    assert answer["Location"] == f"/api/v1/runs/{run.pk}"
    assert answer["Preference-Applied"] == "respond-async"
    assert answer.json()["status"] == "pending"
    assert answer.json()["results"][0]["status"] is None
    assert answer.json()["results"][0]["execution_id"] == str(run.pk)


def test_orchestrate_says_that_it_comes_later(operate: Operate) -> None:
    answer = operate("orchestrate", orchestration={"name": "x"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "NOT_AVAILABLE")
