"""Requests on the web made from arguments, and answers read: expectations written by hand."""

import json
from typing import Any

import pytest

from toolhub_sdk import ToolError
from toolhub_sdk.runtimes.http.exchange import web_request, web_result

BASE = "https://api.example.org/v1"
JSON = {"content-type": "application/json; charset=utf-8"}


@pytest.mark.parametrize(
    ("operation", "arguments", "method", "url", "body"),
    [
        ({"method": "GET", "path": "/users/{id}"}, {"id": 7}, "GET", "/users/7", None),
        ({"method": "GET", "path": "/a"}, {"q": "é &/?", "n": 2}, "GET", "/a?q=%C3%A9%20%26%2F%3F&n=2", None),
        ({"method": "GET", "path": "/a"}, {"q": [1, 2], "no": None}, "GET", "/a?q=1&q=2", None),
        ({"method": "GET", "path": "/a/{b}.json"}, {"b": "x/y ?#"}, "GET", "/a/x%2Fy%20%3F%23.json", None),
        ({"method": "GET", "path": "/a"}, {"yes": True, "no": False}, "GET", "/a?yes=true&no=false", None),
        ({"method": "DELETE", "path": "/a"}, {"id": "1"}, "DELETE", "/a?id=1", None),
        ({"method": "POST", "path": "/a"}, {}, "POST", "/a", {}),
        (
            {"method": "POST", "path": "/a"},
            {"x": {"y": [1]}, "z": None},
            "POST",
            "/a",
            {"x": {"y": [1]}, "z": None},
        ),
        (
            {"method": "PUT", "path": "/a/{id}", "query": ["v"]},
            {"id": 1, "v": 2, "n": 3},
            "PUT",
            "/a/1?v=2",
            {"n": 3},
        ),
        ({"method": "PATCH", "path": "/a", "body": "list"}, {"list": [1, 2]}, "PATCH", "/a", [1, 2]),
        ({"method": "POST", "path": "/a", "body": "doc"}, {"doc": "text", "v": 1}, "POST", "/a?v=1", "text"),
        ({"method": "POST", "path": "/a", "body": "doc"}, {}, "POST", "/a", None),
    ],
)
def test_the_request_of_a_call(
    operation: dict[str, Any], arguments: dict[str, Any], method: str, url: str, body: Any
) -> None:
    made = web_request(BASE, operation, arguments)

    assert (made.method, made.url) == (method, f"{BASE}{url}")
    assert (json.loads(made.body) if made.body else None) == body
    assert ("Content-Type" in made.headers) == bool(made.body)


def test_headers_carry_the_arguments_that_they_name_and_leave_out_what_is_not_given() -> None:
    operation = {"method": "GET", "path": "/", "headers": {"X-Kind": "kind", "X-More": "more"}}

    made = web_request(f"{BASE}/", operation, {"kind": "a b"})

    assert made.headers["X-Kind"] == "a b"
    assert "X-More" not in made.headers
    assert made.url == f"{BASE}/"


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ({"path": "/{id}"}, {"id": ".."}),
        ({"path": "/{id}"}, {"id": "."}),
        ({"path": "/{id}"}, {"id": ""}),
        ({"path": "/{id}"}, {"id": None}),
        ({"path": "/{id}"}, {"id": {"a": 1}}),
        ({"path": "/"}, {"q": {"a": 1}}),
        ({"path": "/"}, {"q": [[1]]}),
        ({"path": "/", "headers": {"X-A": "a"}}, {"a": "b\r\nHost: evil"}),
        ({"path": "/", "headers": {"X-A": "a"}}, {"a": "é"}),
        ({"path": "/", "headers": {"X-A": "a"}}, {"a": ["b"]}),
    ],
)
def test_values_that_have_no_place_in_a_request(operation: dict[str, Any], arguments: dict[str, Any]) -> None:
    with pytest.raises(ToolError, match="cannot be sent") as raised:
        web_request(BASE, {"method": "GET", **operation}, arguments)

    assert raised.value.code == "INVALID_ARGUMENTS"


@pytest.mark.parametrize(
    ("headers", "body", "result"),
    [
        (JSON, b'{"a": 1.5}', {"a": 1.5}),
        ({"content-type": "application/problem+json"}, b"[]", []),
        (JSON, b"", None),
        ({}, b"", None),
        ({"content-type": "text/plain"}, "é".encode(), "é"),
        ({"content-type": "text/plain; charset=ISO-8859-1"}, "é".encode("latin-1"), "é"),
        ({"content-type": "image/png"}, b"\x00\x01", {"base64": "AAE=", "mediaType": "image/png"}),
        ({}, b"plain", "plain"),
        ({}, b"\xff", {"base64": "/w==", "mediaType": "application/octet-stream"}),
    ],
)
def test_what_an_answer_means(headers: dict[str, str], body: bytes, result: Any) -> None:
    assert web_result(200, headers, body) == result


@pytest.mark.parametrize(
    ("status", "headers", "body", "code", "details"),
    [
        (200, JSON, b"{", "INVALID_OUTPUT", {}),
        (200, JSON, b'{"a": 1, "a": 2}', "INVALID_OUTPUT", {}),
        (200, {"content-type": "text/plain"}, b"\xff", "INVALID_OUTPUT", {}),
        (200, {"content-type": "text/plain; charset=punycode"}, b"a", "INVALID_OUTPUT", {}),
        (301, {"location": "https://elsewhere.example/"}, b"", "EXECUTION_FAILED", {"status": 301}),
        (404, {}, b"no such user", "EXECUTION_FAILED", {"status": 404, "answer": "no such user"}),
        (429, {"retry-after": "7"}, b"", "RATE_LIMIT", {"status": 429, "retry_after_s": 7}),
        (429, {"retry-after": "soon"}, b"", "RATE_LIMIT", {"status": 429}),
        (503, {}, b"", "SERVER_ERROR", {"status": 503}),
    ],
)
def test_answers_that_are_errors(
    status: int, headers: dict[str, str], body: bytes, code: str, details: dict[str, Any]
) -> None:
    with pytest.raises(ToolError) as raised:
        web_result(status, headers, body)

    assert (raised.value.code, raised.value.details) == (code, details)
    assert raised.value.retryable == (status == 429)
