"""The test titles that the seeds list: each a real test, here or elsewhere, or the reason why not yet."""

import ast
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from execution.models import Run, Status
from registry.models import Package, Tool, ToolVersion
from registry.services import assignment_create
from security.models import Persona, User
from security.services import grant_create
from tests.effects.conftest import ask, fx_published, perform
from tests.execution.fixtures import fx
from tests.execution.operations.conftest import Operate, operate

__all__ = ["ask", "fx", "fx_published", "operate", "perform"]
ROOT = Path(__file__).parents[1]
Call = Callable[..., Any]
# Tests of this file have these titles as their first line; `ELSEWHERE` names others' files and tests.
HERE = {
    "should execute DAG-based tool flows": "test_a_graph_of_calls",
    "should handle conditional tool execution": "test_a_condition_decides",
    "should read file content": "test_a_file_is_read",
    "should fail on non-existent file": "test_a_file_that_is_not_there",
    "should execute builtin tools correctly": "test_builtin_tools",
    "should handle tool chaining correctly": "test_chaining",
    "should enforce security permissions": "test_permissions",
    "should sandbox tool execution": "test_sandboxed",
    "should receive requests from Smart Router": "test_a_routers_request",
    "should handle concurrent tool executions": "test_many_at_once",
    "should reject unauthorized paths": "test_unauthorized_paths",
}
ELSEWHERE = {
    "should execute external tools correctly": (
        "execution/test_http_runner.py",
        "test_a_call_is_one_request_whose_answer_is_the_result",
    ),
    "should connect to external APIs": (
        "execution/test_http_runner.py",
        "test_what_a_server_may_do_twice_carries_the_run_as_its_key",
    ),
    "should send results to Workflow Executor": (
        "execution/callbacks/test_delivering.py",
        "test_the_outcome_is_posted_once_and_signed",
    ),
    "should maintain performance under load": (
        "execution/test_overload.py",
        "test_beyond_the_bound_of_the_queue_it_is_503_and_nothing_is_accepted",
    ),
    "should validate input and sanitize output": (
        "execution/test_hidden.py",
        "test_a_planted_secret_stands_nowhere",
    ),
    "should detect and prevent security violations": (
        "content/test_calls.py",
        "test_blocked_a_call_is_refused_with_what_was_found",
    ),
    "should orchestrate sequential tool execution": (
        "execution/operations/test_chain.py",
        "test_a_chain_adds_its_members_to_the_answer",
    ),
    "should optimize tool execution performance": (
        "sandbox/test_warm.py",
        "test_the_next_call_finds_a_program_that_waits_and_nothing_of_the_last",
    ),
    "should monitor tool performance metrics": (
        "monitoring/test_series.py",
        "test_percentiles_are_those_of_the_nearest_rank",
    ),
    "should handle resource optimization": (
        "execution/test_claim.py",
        "test_the_persona_with_the_fewest_running_runs_comes_first",
    ),
}
# What has to be there first, and the name in docs/from-the-seeds.md whose row says that it is not yet.
NOT_YET = {
    "should execute MCP tools correctly": ("MCP servers", "`MCPToolManager`"),
    "should integrate with MCP servers": ("MCP servers", "`MCPToolManager`"),
    "should execute composed tools correctly": ("compositions", "`ComposedToolManager`"),
    "should orchestrate parallel tool execution": ("compositions", "`executeParallel`"),
    "should implement result caching": ("keeping results", "`implementResultCaching`"),
}


def test_all_titles_have_their_place() -> None:
    assert len(HERE | ELSEWHERE | NOT_YET) == len(HERE) + len(ELSEWHERE) + len(NOT_YET) == 17 + 6 + 3
    for file, name in ELSEWHERE.values():
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        assert name in {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
    for name in HERE.values():
        assert name in globals()


def test_what_is_not_yet_tested_is_not_yet_there() -> None:
    rows = (ROOT.parent / "docs" / "from-the-seeds.md").read_text(encoding="utf-8").splitlines()
    for reason, name in NOT_YET.values():
        (note,) = (row.rsplit("|", 2)[1] for row in rows if name in row)
        assert reason in note.lower().replace("mcp", "MCP"), f"{name} is there: it has to be tested."
        assert "not yet" in note.lower() or "not there yet" in note


@pytest.mark.django_db
def test_builtin_tools(call: Call, assign: Callable[[str], None]) -> None:
    for name, arguments, data in (
        ("echo", {"text": "a"}, {"text": "a"}),
        ("calculate", {"operation": "add", "num1": 2, "num2": 3}, {"result": 5}),
    ):
        assign(name)
        assert call(name, arguments).json()["data"] == data


@pytest.mark.django_db
def test_chaining(operate: Call, assign: Callable[[str], None]) -> None:
    assign("calculate")
    two = {"operation": "add", "num1": 1, "num2": 1}
    calls = [
        {"id": "a", "toolName": "calculate", "arguments": two},
        {
            "id": "b",
            "toolName": "calculate",
            "arguments": {"operation": "multiply", "num2": 21},
            "mapping": {"num1": {"from": "a", "pointer": "/result"}},
        },
    ]
    body = operate("execute_chain", calls=calls).json()
    assert body.get("overall_status") == "success", body
    assert [each["output"] for each in body["results"]] == [{"result": 2}, {"result": 42}]


@pytest.mark.django_db
def test_permissions(call: Call, fx: Package, admin: User, persona: Persona) -> None:
    assert call("fx_capable", {}).status_code == 403
    grant_create(by=admin, persona=persona, capability="file:read", reason="A test.")
    assert call("fx_capable", {}).json()["data"] == "done"


@pytest.mark.sandbox
@pytest.mark.django_db
def test_sandboxed(fx_contract: None, carry: Call) -> None:
    failed = carry("fx_writes", {"path": "/usr/note"})
    assert (failed["success"], failed["error"]["code"]) == (False, "EXECUTION_FAILED")
    assert failed["metadata"]["sandbox"] in {"isolated", "confined"}
    assert carry("fx_writes", {"path": "note"})["data"] == "written"


@pytest.mark.django_db
def test_a_routers_request(operate: Call, assign: Callable[[str], None]) -> None:
    assign("echo")
    body = operate(
        "execute_single",
        parameters={"toolName": "echo", "arguments": {"text": "a"}, "contextData": {"k": 1}},
        context={"sessionId": "s", "userId": "u"},
    ).json()
    assert (body.get("status"), body.get("results", [{}])[0].get("output")) == ("completed", {"text": "a"}), (
        body
    )


@pytest.mark.django_db(transaction=True)
def test_many_at_once(token_text: str, admin: User, persona: Persona, published: None) -> None:
    assignment_create(by=admin, persona=persona, tool=Tool.objects.get(name="echo"))
    start = threading.Barrier(4)

    def many(number: int) -> list[str]:
        start.wait()
        client = Client()
        try:
            return [
                client.post(
                    "/api/v1/tools/echo/execute",
                    {"arguments": {"text": f"{number}.{each}"}},
                    content_type="application/json",
                    HTTP_AUTHORIZATION=f"Bearer {token_text}",
                ).json()["data"]["text"]
                for each in range(5)
            ]
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        said = [text for texts in pool.map(many, range(4)) for text in texts]
    assert said == [f"{number}.{each}" for number in range(4) for each in range(5)]
    assert Run.objects.filter(status=Status.COMPLETED).count() == 20


@pytest.mark.django_db
def test_unauthorized_paths(fx_contract: None, call: Call, admin: User, persona: Persona) -> None:
    version = ToolVersion.objects.get(tool__name="fx_writes")
    version.required_capabilities = ["file:write"]
    version.save(update_fields=["required_capabilities"])
    within = [{"kind": "path", "argument": "/path", "values": ["/tmp/a"]}]
    grant_create(by=admin, persona=persona, capability="file:write", reason="A test.", conditions=within)
    for path in ("/etc/passwd", "/tmp/ab", "/tmp/a/../../etc/passwd"):
        refused = call("fx_writes", {"path": path}, HTTP_PREFER="respond-async")
        assert (refused.status_code, refused.json()["error"]["type"]) == (403, "security"), path
    allowed = call("fx_writes", {"path": "/tmp/a/b/c"}, HTTP_PREFER="respond-async")
    assert allowed.status_code == 202


@pytest.mark.django_db
def test_a_graph_of_calls(operate: Operate, assign: Callable[[str], None]) -> None:
    """A diamond: one call feeds two, both feed the last; given in any order."""
    assign("calculate")

    def node(name: str, operation: str, *, num1: Any, num2: Any) -> dict[str, Any]:
        given = {"num1": num1, "num2": num2}
        mapped = {each: {"from": one, "pointer": "/result"} for each, one in given.items() if one in "abcd"}
        plain = {each: int(one) for each, one in given.items() if each not in mapped}
        arguments = {"operation": operation, **plain}
        return {"id": name, "toolName": "calculate", "arguments": arguments, "mapping": mapped}

    calls = [
        node("d", "subtract", num1="b", num2="c"),
        node("c", "add", num1="a", num2="1"),
        node("b", "multiply", num1="a", num2="10"),
        node("a", "add", num1="2", num2="3"),
    ]
    body = operate("execute_chain", order="auto", calls=calls).json()
    assert body.get("overall_status") == "success", body
    assert [each["id"] for each in body["flow"]["steps"]] == ["a", "c", "b", "d"]
    assert {each["id"]: each["output"]["result"] for each in body["results"]} == {
        "a": 5,
        "b": 50,
        "c": 6,
        "d": 44,
    }
    calls[-1]["dependsOn"] = ["d"]
    circle = operate("execute_chain", order="auto", calls=calls)
    assert (circle.status_code, "circle" in circle.json()["detail"]) == (422, True)


@pytest.mark.sandbox
@pytest.mark.django_db
def test_a_condition_decides(perform: Call) -> None:
    for go in (False, True):
        told = perform("fx_casc", {"word": "a", "go": go})
        assert [child["tool"] for child in told["children"]] == ["fx_dep"] * go


@pytest.fixture
def readable(tmp_path: Path, settings: Any) -> Path:
    """A folder of this machine that tools may read."""
    folder = tmp_path / "reports"
    folder.mkdir()
    (folder / "note.txt").write_text("What it says.", encoding="utf-8")
    settings.FOLDERS = [f"reports={folder}"]
    for each in (tmp_path, folder):
        each.chmod(0o755)
    return folder


@pytest.mark.sandbox
@pytest.mark.django_db
def test_a_file_is_read(readable: Path, fx_contract: None, carry: Call) -> None:
    read = carry("fx_reads", {"path": "note.txt"})
    assert (read["success"], read["data"]) == (True, {"content": "What it says."})


@pytest.mark.sandbox
@pytest.mark.django_db
def test_a_file_that_is_not_there(readable: Path, fx_contract: None, carry: Call) -> None:
    failed = carry("fx_reads", {"path": "other.txt"})
    assert (failed["success"], failed["error"]["code"]) == (False, "FILE_NOT_FOUND")
    assert "not found" in failed["error"]["message"]
    assert failed["error"]["recoverable"] is True
