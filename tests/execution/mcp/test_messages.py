"""What `/mcp` says to what is not as the protocol has it, and how errors, refusals and open runs come."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from execution.models import Run, Status
from registry.collections.services import collection_create
from registry.models import Package, Tool, ToolVersion
from registry.services import assignment_create
from security.models import Persona, User
from security.services import persona_switch
from tests.execution.mcp.conftest import Ask

pytestmark = pytest.mark.django_db
Assign = Callable[[str], None]


def error_of(answer: Any) -> tuple[int, int]:
    return answer.status_code, answer.json()["error"]["code"]


def told(answer: Any) -> Any:
    """What the model reads of a result."""
    result = answer.json()["result"]
    return result.get("isError", False), json.loads(result["content"][0]["text"])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"{", (400, -32700)),
        (b'{"a":1,"a":2}', (400, -32700)),
        (b"[]", (400, -32600)),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', (400, -32600)),
        (b"7", (400, -32600)),
        (b"{}", (400, -32600)),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', (400, -32600)),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', (400, -32600)),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', (400, -32600)),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', (400, -32600)),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', (400, -32600)),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', (400, -32600)),
        (b'{"jsonrpc":"2.0","id":1,"method":"resources/list"}', (404, -32601)),
        (b'{"jsonrpc":"2.0","id":1,"method":"server/discover"}', (404, -32601)),
        (b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', (400, -32700)),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}', (400, -32602)),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}', (400, -32602)),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no"}}', (400, -32602)),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"a\\u0000"}}', (400, -32602)),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"zzz"}}', (400, -32602)),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":""}}', (400, -32602)),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":7}}', (400, -32602)),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":7}}', (400, -32602)),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a\\u0000"}}', (400, -32602)),
        (b" " * 1_100_000, (400, -32700)),
    ],
)
def test_what_is_no_message_is_told_with_the_codes_of_the_protocol(
    ask: Ask, body: bytes, expected: tuple[int, int]
) -> None:
    answer = ask(raw=body)
    assert error_of(answer) == expected
    assert answer["Content-Type"] == "application/json"
    assert answer.json()["jsonrpc"] == "2.0"
    assert answer.json()["error"]["message"]
    assert not Run.objects.exists()


@pytest.mark.parametrize("modern", [False, True])
def test_a_call_finds_its_tool_once(ask: Ask, ask_modern: Ask, fx: Package, modern: bool) -> None:
    """Also where headers mirror arguments, for which the tool's schema is read first."""
    do = ask_modern if modern else ask
    with CaptureQueriesContext(connection) as asked:
        answer = do("tools/call", name="fx_echo", arguments={"value": 1})
    assert told(answer) == (False, 1)
    looks = [one["sql"] for one in asked.captured_queries if 'FROM "registry_toolversion"' in one["sql"]]
    assert len(looks) == 1, looks


def test_meta_may_be_null(ask: Ask, fx: Package) -> None:
    assert told(ask("tools/call", name="fx_echo", arguments={"value": 1}, _meta=None)) == (False, 1)


def test_notifications_are_accepted_without_an_answer(ask: Ask) -> None:
    answer = ask(raw={"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (answer.status_code, answer.content) == (202, b"")


def test_who_may_not_ask_gets_a_problem(client: Client, ask: Ask, token_text: str) -> None:
    bare = client.post("/mcp", b"{}", content_type="application/json")
    assert (bare.status_code, bare["WWW-Authenticate"]) == (401, 'Bearer realm="toolhub"')
    wrong = ask("ping", headers={"Authorization": "Bearer thp_no"})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (401, "UNAUTHENTICATED")
    for origin in ("https://evil.example", "null", "http://[", "http://testserver.evil.example", ""):
        other = ask("ping", headers={"Origin": origin})
        assert (other.status_code, other.json()["error"]["code"]) == (403, "PERMISSION_DENIED")
    assert ask("ping", headers={"Origin": "http://testserver"}).status_code == 200
    for method in ("get", "delete", "put"):
        answer = getattr(client, method)("/mcp", headers={"Authorization": f"Bearer {token_text}"})
        assert (answer.status_code, answer["Allow"]) == (405, "POST")


@pytest.mark.parametrize(
    ("asked", "spoken"), [("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"), ("1999", "2025-11-25")]
)
def test_the_handshake_settles_on_a_revision(ask: Ask, asked: str, spoken: str) -> None:
    info = {"name": "a client", "version": "1"}
    answer = ask("initialize", protocolVersion=asked, capabilities={}, clientInfo=info)
    result = answer.json()["result"]
    assert (result["protocolVersion"], result["capabilities"]) == (spoken, {"tools": {}})
    assert "Mcp-Session-Id" not in answer.headers


def test_a_revision_that_nobody_speaks_is_told_with_those_that_are_spoken(ask: Ask) -> None:
    answer = ask("ping", headers={"MCP-Protocol-Version": "1999-01-01"})
    assert error_of(answer) == (400, -32022)
    assert "2026-07-28" in answer.json()["error"]["data"]["supported"]


def test_headers_and_body_of_the_newest_revision_must_agree(ask_modern: Ask, assign: Assign) -> None:
    assign("echo")
    assert ask_modern("server/discover").json()["result"]["resultType"] == "complete"
    assert ask_modern("tools/call", name="echo", arguments={"text": "a"}).status_code == 200
    wrong = ask_modern("tools/call", name="echo", arguments={"text": "a"}, headers={"Mcp-Name": "other"})
    assert error_of(wrong) == (400, -32020)
    assert error_of(ask_modern("tools/list", headers={"Mcp-Method": "tools/call"})) == (400, -32020)
    assert error_of(ask_modern("initialize")) == (404, -32601)
    listed = ask_modern("tools/list").json()["result"]
    assert (listed["cacheScope"], listed["ttlMs"]) == ("private", 5000)


def test_arguments_that_headers_mirror_must_be_those_of_the_body(ask_modern: Ask, fx: Package) -> None:
    version = ToolVersion.objects.get(tool__name="fx_kinds")
    version.definition["inputSchema"]["properties"]["text"]["x-mcp-header"] = "Text"
    version.save()

    def code(mirrored: str | None, **arguments: Any) -> Any:
        headers = {} if mirrored is None else {"Mcp-Param-Text": mirrored}
        answer = ask_modern("tools/call", name="fx_kinds", arguments=arguments, headers=headers).json()
        return answer.get("error", {}).get("code")

    assert code("north", text="north") is None
    assert [code("south", text="north"), code(None, text="north"), code("north")] == [-32020] * 3
    assert Run.objects.count() == 1


def test_a_refused_call_says_why_and_what_to_do(ask: Ask, fx: Package) -> None:
    is_error, error = told(ask("tools/call", name="fx_capable"))
    assert is_error
    assert error["code"] == "CAPABILITY_MISSING"
    assert error["suggestions"]
    assert error["details"]["decision"]
    is_error, error = told(ask("tools/call", name="fx_boom"))
    assert (is_error, error["code"]) == (True, Run.objects.get(tool="fx_boom").error["code"])  # type: ignore[index]


def test_an_object_comes_whole_as_structure(ask: Ask, ask_modern: Ask, fx: Package) -> None:
    value = {"none": None, "deep": [{"none": None, "big": 2**53 - 1}], "text": "\u2028é", "": 1.5}
    for way in (ask, ask_modern):
        result = way("tools/call", name="fx_echo", arguments={"value": value}).json()["result"]
        assert result["structuredContent"] == {"result": value}  # its schema admits what is no object
        assert json.loads(result["content"][0]["text"]) == value


def test_what_a_call_says_beside_its_arguments_stands_in_meta(ask: Ask, fx: Package) -> None:
    meta = {"io.toolhub/call": {"context": {"session_id": "s7"}, "idempotency_key": "k1"}}
    first = ask("tools/call", name="fx_echo", arguments={"value": 1}, _meta=meta).json()["result"]
    second = ask("tools/call", name="fx_echo", arguments={"value": 1}, _meta=meta).json()["result"]
    assert first["_meta"]["io.toolhub/run"]["run_id"] == second["_meta"]["io.toolhub/run"]["run_id"]
    assert Run.objects.get().request["context"] == {"session_id": "s7"}
    for wrong in (7, {"idempotency_key": 7}, {"no": 1}, {"arguments": {"value": 2}, "context": 7}):
        is_error, error = told(ask("tools/call", name="fx_echo", _meta={"io.toolhub/call": wrong}))
        assert is_error
        assert error["code"] in {"INVALID_REQUEST", "UNKNOWN_MEMBER"}
    assert Run.objects.count() == 1


def test_a_call_that_goes_on_names_its_run(ask: Ask, fx: Package) -> None:
    answer = ask("tools/call", name="fx_echo", arguments={"value": 1}, headers={"Prefer": "respond-async"})
    is_error, open_ = told(answer)
    run = Run.objects.get()
    assert (is_error, open_["run_id"], open_["status"]) == (True, str(run.pk), Status.PENDING)
    assert open_["result"].endswith(f"/api/v1/runs/{run.pk}")


def test_a_collection_is_a_door_of_its_own(ask: Ask, admin: User, persona: Persona, assign: Assign) -> None:
    assign("current_time")
    collection = collection_create(by=admin, name="words", tools=[Tool.objects.get(name="echo")])
    assert ask("tools/list", path="/mcp/words").status_code == 404
    assignment_create(by=admin, persona=persona, collection=collection)

    def names(path: str) -> list[str]:
        return [tool["name"] for tool in ask("tools/list", path=path).json()["result"]["tools"]]

    assert (names("/mcp/words"), names("/mcp")) == (["echo"], ["current_time", "echo"])
    assert told(ask("tools/call", path="/mcp/words", name="echo", arguments={"text": "a"})) == (
        False,
        {"text": "a"},
    )
    outside = ask("tools/call", path="/mcp/words", name="current_time")
    assert error_of(outside) == (400, -32602)
    assert outside.json()["error"]["data"]["code"] == "TOOL_NOT_FOUND"
    nul = ask("tools/call", path="/mcp/words", name="echo\0", arguments={"text": "a"})
    assert error_of(nul) == (400, -32602)
    assert ask("tools/list", path="/mcp/other").json()["error"]["code"] == "NOT_FOUND"


def test_a_long_list_comes_in_pages(ask: Ask, assign: Assign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("registry.api.PAGE", 2)
    for name in ("echo", "current_time", "calculate"):
        assign(name)
    first = ask("tools/list").json()["result"]
    rest = ask("tools/list", cursor=first["nextCursor"]).json()["result"]
    assert [tool["name"] for tool in first["tools"] + rest["tools"]] == ["calculate", "current_time", "echo"]
    assert "nextCursor" not in rest


def test_a_persona_that_is_off_hears_but_the_reason(
    ask: Ask, admin: User, persona: Persona, assign: Assign
) -> None:
    assign("echo")
    persona_switch(by=admin, persona=persona, on=False)
    result = ask("tools/list").json()["result"]
    assert (result["tools"], "switched off" in result["_meta"]["io.toolhub/reason"]) == ([], True)
    is_error, error = told(ask("tools/call", name="echo", arguments={"text": "a"}))
    assert (is_error, error["code"], Run.objects.exists()) == (True, "PERMISSION_DENIED", False)


def test_an_empty_list_says_why(ask: Ask) -> None:
    result = ask("tools/list").json()["result"]
    assert result["tools"] == []
    assert "admin" in result["_meta"]["io.toolhub/reason"]
