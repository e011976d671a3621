"""Tools that are requests on the web, as authors check and try them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.receiver import Receiver, receiving, says, status
from toolhub_sdk.checks.manifest import manifest_problems
from toolhub_sdk.cli.calls import tool_call

HERE = "/tools/0/_meta/io.toolhub~1contract"


def manifest(runtime: dict[str, Any] | None = None, operation: Any = None, **contract: Any) -> dict[str, Any]:
    made = {"network": {"allow": ["api.example.org:443"]}, "http": operation, **contract}
    return {
        "manifestVersion": "1",
        "name": "orders",
        "version": "1.0.0",
        "description": "Orders of a shop.",
        "runtime": runtime or {"type": "http", "entry": "https://api.example.org/v1"},
        "tools": [
            {
                "name": "order",
                "description": "An order by its number.",
                "inputSchema": {
                    "type": "object",
                    "properties": {"id": {"type": "string"}, "note": {"type": "string"}},
                    "required": ["id"],
                },
                "_meta": {"io.toolhub/contract": {k: v for k, v in made.items() if v is not None}},
            }
        ],
    }


GET = {"method": "GET", "path": "/orders/{id}"}


@pytest.mark.parametrize(
    "operation", [GET, {**GET, "headers": {"X-Note": "note"}}, {**GET, "query": ["note"]}]
)
def test_good_operations(operation: dict[str, Any]) -> None:
    assert manifest_problems(manifest(operation=operation)) == []


@pytest.mark.parametrize(
    ("made", "pointer"),
    [
        (manifest(), HERE),
        (manifest(operation={"method": "GET"}), f"{HERE}/http/path"),
        (manifest(operation={"method": "TRACE", "path": "/"}), f"{HERE}/http/method"),
        (manifest(operation={"method": "GET", "path": "orders"}), f"{HERE}/http/path"),
        (manifest(operation={"method": "GET", "path": "/a?b=c"}), f"{HERE}/http/path"),
        (manifest(operation={"method": "GET", "path": "/a\n"}), f"{HERE}/http/path"),
        (manifest(operation={"method": "GET", "path": "/{other}"}), f"{HERE}/http/path"),
        (manifest(operation={"method": "GET", "path": "/{note}"}), f"{HERE}/http/path"),
        (manifest(operation={"method": "GET", "path": "/{id"}), f"{HERE}/http/path"),
        (manifest(operation={**GET, "query": ["note", "other"]}), f"{HERE}/http/query/1"),
        (manifest(operation={**GET, "headers": {"Host": "note"}}), f"{HERE}/http/headers/Host"),
        (
            manifest(operation={**GET, "headers": {"authorization": "note"}}),
            f"{HERE}/http/headers/authorization",
        ),
        (manifest(operation={**GET, "body": "note"}), f"{HERE}/http/body"),
        (manifest(operation=GET, network={"allow": ["example.org:443"]}), f"{HERE}/network/allow"),
        (manifest(operation=GET, network=None), f"{HERE}/network/allow"),
        (manifest({"type": "http", "entry": "https://api.example.org/?a=b"}, GET), "/runtime/entry"),
        (manifest({"type": "http", "entry": "https://u:p@api.example.org/"}, GET), "/runtime/entry"),
        (manifest({"type": "http", "entry": "https://api.example.org:99999/"}, GET), "/runtime/entry"),
        (manifest({"type": "http", "entry": "ftp://api.example.org/"}, GET), "/runtime/entry"),
        (manifest({"type": "python", "entry": "orders"}, GET), f"{HERE}/http"),
    ],
)
def test_each_fault_has_its_place(made: dict[str, Any], pointer: str) -> None:
    problems = manifest_problems(made)

    assert pointer in {each.pointer for each in problems}, problems
    assert all(each.remedy for each in problems)


@pytest.fixture
def server() -> Iterator[Receiver]:
    yield from receiving()


def test_authors_try_their_requests(server: Receiver, tmp_path: Path) -> None:
    made = manifest({"type": "http", "entry": f"http://127.0.0.1:{server.port}/v1"}, GET)
    server.answers = [says(b'{"id": "7"}'), status(404)]

    good = tool_call(tmp_path, made, made["tools"][0], {"id": "7", "note": "a b"})
    bad = tool_call(tmp_path, made, made["tools"][0], {"id": "8"})

    assert good.data == {"id": "7"}
    assert bad.error is not None
    assert bad.error.startswith("EXECUTION_FAILED: The server refused it with status 404")
    assert [one.path for one in server.got] == ["/v1/orders/7?note=a%20b", "/v1/orders/8"]


CONFIG = {"type": "object", "properties": {"api_key": {"type": "string", "secret": True}}}


@pytest.mark.parametrize(
    ("headers", "good"),
    [
        ({"Authorization": "Bearer {api_key}", "Cookie": "key={api_key}"}, True),
        ({"Authorization": "Bearer {other}"}, False),
        ({"Authorization": "Bearer {api_key"}, False),
        ({"Host": "{api_key}"}, False),
        ({"Idempotency-Key": "fixed"}, False),
        ({"X-Fixed": "a text"}, True),
    ],
)
def test_headers_of_the_package(headers: dict[str, str], good: bool) -> None:
    made = {**manifest(operation={**GET, "settings": headers}), "config": CONFIG}
    found = manifest_problems(made)
    assert (found == []) == good, found
    assert all(each.pointer.startswith(f"{HERE}/http/settings/") for each in found)


CHECK = {"url": "https://api.example.org/v1/me", "headers": {"Authorization": "Bearer {api_key}"}}


@pytest.mark.parametrize(
    ("check", "pointer"),
    [
        (CHECK, None),
        ({**CHECK, "method": "HEAD", "url": "https://api.example.org:443/"}, None),
        ({"url": CHECK["url"], "query": {"key": "{api_key}", "fixed": "a"}}, None),
        ({**CHECK, "headers": {"Cookie": "k={api_key}", "X-Unit": "{unit}"}}, None),
        ({**CHECK, "method": "POST"}, "/configCheck/method"),
        ({**CHECK, "url": "ftp://api.example.org/"}, "/configCheck/url"),
        ({**CHECK, "url": "https://other.example.org/"}, "/configCheck/url"),
        ({**CHECK, "url": "https://api.example.org:8443/"}, "/configCheck/url"),
        ({**CHECK, "url": "https://api.example.org/?a=b"}, "/configCheck/url"),
        ({**CHECK, "url": "https://u:p@api.example.org/"}, "/configCheck/url"),
        ({**CHECK, "body": "x"}, "/configCheck/body"),
        ({"url": CHECK["url"]}, "/configCheck"),
        ({**CHECK, "headers": {"X-Unit": "{unit}"}}, "/configCheck"),
        ({**CHECK, "headers": {"Authorization": "{other}{api_key}"}}, "/configCheck/headers/Authorization"),
        ({**CHECK, "headers": {"X-Key": "{api_key} {"}}, "/configCheck/headers/X-Key"),
        ({**CHECK, "headers": {"Host": "{api_key}"}}, "/configCheck/headers/Host"),
        ({**CHECK, "query": {"key": "{other}"}}, "/configCheck/query/key"),
    ],
)
def test_the_request_that_tests_secrets(check: dict[str, Any], pointer: str | None) -> None:
    config = {**CONFIG, "properties": {**CONFIG["properties"], "unit": {"type": "string"}}}  # type: ignore[dict-item]
    made = {**manifest(operation=GET), "config": config, "configCheck": check}
    found = manifest_problems(made)
    assert [each.pointer for each in found] == ([pointer] if pointer else [])
    assert all(each.remedy for each in found)


def test_a_request_that_tests_secrets_needs_settings() -> None:
    found = manifest_problems({**manifest(operation=GET), "configCheck": CHECK})
    assert [each.pointer for each in found] == ["/configCheck/headers/Authorization", "/configCheck"]


def test_it_may_go_to_a_host_that_a_wildcard_allows() -> None:
    made = {**manifest({"type": "command", "entry": "run"}, network={"allow": ["*.example.org:443"]})}
    assert manifest_problems({**made, "config": CONFIG, "configCheck": CHECK}) == []
