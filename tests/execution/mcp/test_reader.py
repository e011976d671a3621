"""The reader of calls agrees with the official types: on messages, on results, and on every answer of the hub."""

import copy
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import mcp_types
import orjson
import pytest
from django.http.request import HttpHeaders
from hypothesis import example, given
from hypothesis import strategies as st
from mcp.shared import inbound
from mcp_types import JSONRPCNotification, jsonrpc, version
from mcp_types.methods import CLIENT_REQUESTS, serialize_server_result, validate_client_request
from pydantic import ValidationError

from execution.entry.mcp import messages, protocol
from execution.entry.mcp.methods import METHODS
from execution.entry.mcp.reader import CALL, Notification, Request, message_read
from execution.entry.mcp.refused import Refused
from registry.models import Package, ToolVersion
from tests.execution.mcp.conftest import ENVELOPE, MODERN, Ask

HEADERS = {
    protocol.VERSION_HEADER: MODERN,
    protocol.METHOD_HEADER: CALL,
    protocol.NAME_HEADER: "echo",
}
# Members that the reader leaves to the official types.
RARE = {"task", "inputResponses"}

anything = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 2.0]) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
an_object = st.dictionaries(st.text(max_size=3), anything, max_size=2)
text = st.text(max_size=3)


def members(needed: Mapping[str, Any], optional: Mapping[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with members as the schema has them, and some with one that is anything."""
    fits = st.fixed_dictionaries(
        dict(needed), optional={name: st.none() | value for name, value in optional.items()}
    )
    names = [*needed, *optional, "more"]
    return fits | st.builds(
        lambda value, name, other: {**value, name: other}, fits, st.sampled_from(names), anything
    )


token = text | st.integers(0, 3)
icons = st.lists(
    members(
        {"src": text},
        {"mimeType": text, "sizes": st.lists(text, max_size=2), "theme": st.sampled_from(["dark", "light"])},
    ),
    max_size=2,
)
capabilities = members(
    {},
    {
        "elicitation": members({}, {"form": an_object, "url": an_object}),
        "experimental": st.dictionaries(text, an_object, max_size=2),
        "extensions": st.dictionaries(text, an_object, max_size=2),
        "roots": an_object,
        "sampling": members({}, {"context": an_object, "tools": an_object}),
    },
)
info = members(
    {"name": text, "version": text},
    {"title": text, "description": text, "websiteUrl": text, "icons": icons},
)
modern_meta = members(
    {protocol.VERSION_KEY: st.just(MODERN), protocol.CAPABILITIES_KEY: capabilities},
    {
        protocol.INFO_KEY: info,
        protocol.LOG_LEVEL_KEY: st.sampled_from(sorted(protocol.LOG_LEVELS)),
        "progressToken": token,
    },
)
name = st.sampled_from(["echo", "ec\u00e9ho", "=?base64?ZWNobw==?=", ""])
params = members(
    {"name": name, "_meta": modern_meta},
    {"arguments": an_object, "requestState": text, "inputResponses": an_object},
) | members(
    {"name": name},
    {"arguments": an_object, "_meta": members({}, {"progressToken": token}), "task": an_object},
)
message = members(
    {"jsonrpc": st.just("2.0"), "id": token, "method": st.sampled_from([CALL, *METHODS]), "params": params},
    {"result": anything},
)
headers = st.fixed_dictionaries(
    {},
    optional={
        protocol.VERSION_HEADER: st.sampled_from([*version.KNOWN_PROTOCOL_VERSIONS, "1999-01-01", ""]),
        protocol.METHOD_HEADER: st.sampled_from([CALL, "tools/list"]),
        protocol.NAME_HEADER: name,
    },
) | name.map(lambda one: {**HEADERS, protocol.NAME_HEADER: one})


def official(body: Any, given_headers: Mapping[str, str]) -> Request | Notification | None:
    """What a message is by the official types; None where they refuse it, or the hub does not have its method."""
    if not isinstance(body, dict):
        return None
    try:
        if "id" not in body:
            JSONRPCNotification.model_validate(body)
            return Notification()
        number = messages._request_id(body)
        spoken = messages._version(body, HttpHeaders(given_headers))
        method, given_params = body["method"], body.get("params")
        if method not in METHODS or (method, spoken) not in CLIENT_REQUESTS:
            return None
        validate_client_request(method, spoken, given_params)
    except (Refused, ValidationError):
        return None
    return Request(number, spoken, method, given_params or {})


def agree(body: Any, given_headers: Mapping[str, str]) -> None:
    """Fails where the reader reads something else than the official types; what is rare it may leave to them."""
    before = copy.deepcopy(body)
    read, expected = message_read(body, given_headers), official(body, given_headers)
    assert body == before
    assert read == expected or (read is None and expected is not None and is_rare(expected, given_headers))


def is_rare(found: Request | Notification, given_headers: Mapping[str, str]) -> bool:
    if isinstance(found, Notification):
        return False
    mark = (found.params.get("_meta") or {}).get("progressToken")
    encoded = given_headers.get(protocol.NAME_HEADER, "").startswith(protocol.ENCODED)
    able = found.params.get("capabilities") or {}
    # The official types take 1 and "yes" for true.
    flag = (able.get("roots") or {}).get("listChanged")
    odd = able.get("tasks") is not None or not isinstance(flag, bool | None)
    return bool(RARE & found.params.keys()) or isinstance(mark, float) or encoded or odd


def message_of(method: str, params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def modern(meta: Any) -> dict[str, Any]:
    return message_of(CALL, {"name": "echo", "_meta": meta})


@given(message | anything, headers)
@example({"jsonrpc": "2.0", "id": 1, "method": CALL, "params": {"name": "echo"}}, {})
@example({"jsonrpc": "2.0", "id": True, "method": CALL, "params": {"name": "echo"}}, {})
@example(modern(ENVELOPE), HEADERS)
@example(modern(ENVELOPE), {**HEADERS, protocol.NAME_HEADER: "=?base64?ZWNobw==?="})
def test_reader_and_official_types_accept_the_same_messages(body: Any, given_headers: dict[str, str]) -> None:
    agree(body, given_headers)


@given(params, st.sampled_from(version.HANDSHAKE_PROTOCOL_VERSIONS))
def test_they_agree_on_params_in_each_revision_with_a_handshake(given_params: Any, spoken: str) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": CALL, "params": given_params}
    agree(body, {protocol.VERSION_HEADER: spoken})


@given(modern_meta)
def test_they_agree_on_meta_in_the_newest_revision(meta: Any) -> None:
    agree(modern(meta), HEADERS)


META = {
    protocol.VERSION_KEY: MODERN,
    protocol.CAPABILITIES_KEY: {
        "elicitation": {"form": {}, "url": {}},
        "experimental": {"a": {}},
        "extensions": {"a": {"b": 1}},
        "roots": {"listChanged": True},
        "sampling": {"context": {}, "tools": {}},
    },
    protocol.INFO_KEY: {
        "name": "a client",
        "version": "1",
        "title": "A client",
        "description": "It asks.",
        "websiteUrl": "https://client.example",
        "icons": [{"src": "a.png", "mimeType": "image/png", "sizes": ["any"], "theme": "dark"}],
    },
    protocol.LOG_LEVEL_KEY: "error",
    "progressToken": 7,
}
MARKED = {"progressToken": "p"}
GREETING = {
    "protocolVersion": "2025-06-18",
    "capabilities": {
        name: value for name, value in META[protocol.CAPABILITIES_KEY].items() if name != "extensions"
    },
    "clientInfo": META[protocol.INFO_KEY],
    "_meta": MARKED,
}
# Every member that the reader looks at, with a value that fits: by method and whether there is no handshake.
FULL: dict[tuple[str, bool], Any] = {
    ("initialize", False): GREETING,
    ("ping", False): {"_meta": MARKED},
    ("tools/list", False): {"_meta": MARKED, "cursor": "c"},
    (CALL, False): {"_meta": MARKED, "name": "echo", "arguments": {"text": "a"}},
    ("server/discover", True): {"_meta": META},
    ("tools/list", True): {"_meta": META, "cursor": "c"},
    (CALL, True): {"_meta": META, "name": "echo", "arguments": {"text": "a"}, "requestState": "s"},
}
PROBES = [None, True, 0, -1, 1.5, 2.0, "", "a", "2.0", "light", [], [1], ["a"], [{}], {}, {"a": 1}, {"a": {}}]


def changed(value: Any) -> Iterator[Any]:
    """The value with each part of it left out, and replaced by each probe."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for place, part in list(parts):
        for other in (*PROBES, *changed(part)):
            copied = copy.copy(value)
            copied[place] = other
            yield copied
        copied = copy.copy(value)
        del copied[place]
        yield copied


@pytest.mark.parametrize(("method", "newest"), FULL)
def test_they_agree_on_every_member_with_every_kind_of_value(method: str, newest: bool) -> None:
    given_headers = {**HEADERS, protocol.METHOD_HEADER: method} if newest else {}
    full = message_of(method, FULL[method, newest])
    assert message_read(full, given_headers) == official(full, given_headers) != None  # noqa: E711
    bodies = list(changed(full))
    assert len(bodies) > 100
    for body in bodies:
        agree(body, given_headers)


@pytest.mark.parametrize("method", [*METHODS, "resources/list"])
@pytest.mark.parametrize("spoken", [*version.KNOWN_PROTOCOL_VERSIONS, None, "1999-01-01"])
@pytest.mark.parametrize("newest", [False, True])
def test_they_agree_on_each_method_in_each_revision(method: str, spoken: str | None, newest: bool) -> None:
    named = {} if spoken is None else {protocol.VERSION_HEADER: spoken}
    agree(
        message_of(method, FULL.get((method, newest))), {**HEADERS, protocol.METHOD_HEADER: method, **named}
    )


def test_reader_knows_each_method_that_the_hub_has() -> None:
    assert {method for method, _ in FULL} == METHODS.keys()


def test_constants_are_those_of_the_official_types() -> None:
    assert protocol.HANDSHAKE_VERSIONS == version.HANDSHAKE_PROTOCOL_VERSIONS
    assert protocol.MODERN_VERSIONS == version.MODERN_PROTOCOL_VERSIONS
    assert protocol.ERROR_STATUS == inbound.ERROR_CODE_HTTP_STATUS
    assert (protocol.INVALID_PARAMS, protocol.INTERNAL_ERROR) == (
        jsonrpc.INVALID_PARAMS,
        jsonrpc.INTERNAL_ERROR,
    )
    named = (inbound.MCP_PROTOCOL_VERSION_HEADER, inbound.MCP_METHOD_HEADER, inbound.MCP_NAME_HEADER)
    ours = (protocol.VERSION_HEADER, protocol.METHOD_HEADER, protocol.NAME_HEADER)
    assert [HttpHeaders.to_wsgi_name(each) for each in named] == list(ours)
    assert protocol.MIRROR_KEY == inbound.X_MCP_HEADER_KEY
    assert inbound.decode_header_value(f"{protocol.ENCODED}ZWNobw==?=") == "echo"
    keys = (protocol.VERSION_KEY, protocol.CAPABILITIES_KEY, protocol.INFO_KEY)
    assert keys == (
        mcp_types.PROTOCOL_VERSION_META_KEY,
        mcp_types.CLIENT_CAPABILITIES_META_KEY,
        mcp_types.CLIENT_INFO_META_KEY,
    )


def test_what_is_usual_needs_neither_the_official_types_nor_pydantic() -> None:
    """They take a second and 46 MB: a process that nobody sends anything else does without."""
    code = (
        "import django, sys; django.setup(); import toolhub.urls, execution.entry.mcp.methods;"
        "sys.exit(str({'mcp', 'mcp_types', 'pydantic'} & sys.modules.keys()))"
    )
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "toolhub.settings"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr.strip() == "set()"


@pytest.mark.django_db
@pytest.mark.parametrize(("method", "newest"), [pair for pair in FULL if pair[0] != CALL])
def test_results_are_as_the_official_types_write_them(
    ask: Ask, ask_modern: Ask, fx: Package, method: str, newest: bool
) -> None:
    """Also those of a tool with members that MCP does not know, which would break the whole list."""
    kinds = ToolVersion.objects.get(tool__name="fx_kinds")
    kinds.definition |= {
        "title": "Kinds",
        "icons": [
            {"src": "a.png", "sizes": ["any"], "more": 1},
            {"src": 1},
            {},
            {"src": "b", "theme": "red"},
        ],
        "execution": {"taskSupport": "optional", "more": 1},
        "annotations": {"readOnlyHint": True, "title": "Kinds"},
    }
    kinds.save()
    known = {name: value for name, value in FULL[method, newest].items() if name not in ("_meta", "cursor")}
    answer = (ask_modern if newest else ask)(method, **known)
    assert answer.status_code == 200, answer.content
    result = answer.json()["result"]
    spoken = MODERN if newest else known.get("protocolVersion", "2025-11-25")
    assert serialize_server_result(method, spoken, result) == result
    if method == "tools/list":
        (shown,) = (each for each in result["tools"] if each["name"] == "fx_kinds")
        assert shown["icons"] == [{"src": "a.png", "sizes": ["any"]}]
        assert shown.get("execution") == (None if newest else {"taskSupport": "optional"})


# A call's params, and headers beside those of its revision.
CALLS: list[tuple[dict[str, Any], dict[str, str]]] = [
    (
        {
            "name": "fx_echo",
            "arguments": {"value": {"b": [None, 1.0, 1e16, -0.0, "é\u2028"], "a": 2**53 - 1}},
        },
        {},
    ),
    ({"name": "fx_echo", "arguments": {"value": "a"}}, {}),
    ({"name": "fx_kinds", "arguments": {"text": "a"}}, {}),
    ({"name": "fx_echo", "arguments": {"value": 1}}, {"Prefer": "respond-async"}),
    ({"name": "fx_echo", "arguments": None, "value": 1}, {}),
    ({"name": "fx_echo", "arguments": {"more": 1}}, {}),
    ({"name": "fx_echo", "arguments": {"value": 1}, "_meta": {"io.toolhub/call": {"no": 1}}}, {}),
    (
        {"name": "fx_echo", "arguments": {"value": 1}, "_meta": {"io.toolhub/call": {"idempotency_key": ""}}},
        {},
    ),
    ({"name": "fx_echo", "arguments": {"value": 1}, "_meta": {"progressToken": 7}}, {"Idempotency-Key": "k"}),
    ({"name": "fx_echo@1", "arguments": {"value": 1}}, {}),
    ({"name": "fx_capable", "arguments": {}}, {}),
    ({"name": "fx_boom", "arguments": {}}, {}),
    ({"name": "fx_badout", "arguments": {}}, {}),
    ({"name": "nothing", "arguments": {}}, {}),
    ({"name": "", "arguments": {}}, {}),
    ({"name": "fx_echo", "arguments": [1]}, {}),
]


def plain(answer: Any) -> tuple[int, bytes]:
    """Status and body without what differs between two calls: ids, times, hashes of the ledger."""
    body = re.sub(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", b"ID", answer.content)
    body = re.sub(rb"[0-9-]{10}T[0-9:.]+Z", b"TIME", body)
    body = re.sub(
        rb'(\\?"(duration_ms|cpu_ms|audit_leaf|leaf|[a-z_]+_(ms|kb|mb|bytes))\\?":)[^,}]+', rb"\1X", body
    )
    return answer.status_code, body


@pytest.mark.django_db
@pytest.mark.parametrize("newest", [False, True])
@pytest.mark.parametrize(("params", "headers"), CALLS)
def test_a_call_is_answered_as_the_official_types_answer_it(
    ask: Ask,
    ask_modern: Ask,
    fx: Package,
    monkeypatch: pytest.MonkeyPatch,
    params: dict[str, Any],
    headers: dict[str, str],
    newest: bool,
) -> None:
    do = ask_modern if newest else ask
    short = do("tools/call", headers=headers, **params)
    monkeypatch.setattr("execution.entry.mcp.api.message_read", lambda *_: None)
    assert plain(short) == plain(do("tools/call", headers=headers, **params))
    if "result" in (body := short.json()):
        spoken = MODERN if newest else "2025-11-25"
        written = serialize_server_result("tools/call", spoken, body["result"])
        assert orjson.dumps(written) == orjson.dumps(body["result"])
