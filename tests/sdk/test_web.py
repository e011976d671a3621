"""Requests on the web made from arguments, and answers read: expectations written by hand."""

import json
from typing import Any

import pytest

from toolhub_sdk import ToolError, loads
from toolhub_sdk.canonical import canonical_text
from toolhub_sdk.runtimes.http import answers
from toolhub_sdk.runtimes.http.answers import ANSWER_MOST, web_result
from toolhub_sdk.runtimes.http.exchange import web_request

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
    assert web_result(200, headers, body) == answers.Answer(result)


@pytest.mark.parametrize(
    ("status", "headers", "body", "code", "details"),
    [
        (200, JSON, b"{", "INVALID_OUTPUT", {"answer": "{"}),
        (200, JSON, b"<html>Sign in</html>", "INVALID_OUTPUT", {"answer": "<html>Sign in</html>"}),
        (200, JSON, b"{'a': 1}", "INVALID_OUTPUT", {"answer": "{'a': 1}"}),
        (200, JSON, b"[" * 70 + b"]" * 70, "INVALID_OUTPUT", {"answer": "[" * 70 + "]" * 70}),
        (200, JSON, b"x" * 5000, "INVALID_OUTPUT", {"answer": "x" * ANSWER_MOST}),
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


LATIN = {"content-type": "application/json; charset=ISO-8859-1"}
PLAIN = {"content-type": "text/plain"}
# What a server sends, what is kept of it, and the rule that was used.
KEPT: list[tuple[dict[str, str], bytes, Any, str]] = [
    (JSON, b'{"id":725653563933458432}', {"id": "725653563933458432"}, answers.NUMBERS),
    (
        JSON,
        b"[-9007199254740992, 9007199254740991]",
        ["-9007199254740992", 9007199254740991],
        answers.NUMBERS,
    ),
    (JSON, b"[100000000000000000000]", ["100000000000000000000"], answers.NUMBERS),
    (JSON, b"[1e999, -1e999, 1e-999, 0e999]", ["1e999", "-1e999", "1e-999", 0.0], answers.NUMBERS),
    (JSON, b"[" + b"9" * 5000 + b"]", ["9" * 5000], answers.NUMBERS),
    (JSON, b"[0." + b"1" * 500 + b"]", ["0." + "1" * 500], answers.NUMBERS),
    (JSON, b"[NaN, Infinity, -Infinity]", [None, None, None], answers.CONSTANTS),
    (JSON, b'{"a": 1, "b": {"c": 1, "c": 2}, "a": 3}', {"a": 3, "b": {"c": 2}}, answers.NAMES),
    (
        JSON,
        rb'["\ud800", "\udc00x", "\ud83d\ude00", "\\ud800"]',
        ["\ufffd", "\ufffdx", "😀", "\\ud800"],
        answers.HALVES,
    ),
    (JSON, b'{"a": "\xff"}', {"a": "\ufffd"}, answers.CHARACTERS),
    (PLAIN, b"a\xffb", "a\ufffdb", answers.CHARACTERS),
    # These change nothing.
    (JSON, b"  ", None, ""),
    (JSON, b"\xef\xbb\xbf[1]", [1], ""),
    (JSON, '["é"]'.encode("utf-16"), ["é"], ""),
    (LATIN, b"\xef\xbb\xbf" + '["é"]'.encode(), ["é"], ""),
    (LATIN, '["é"]'.encode("latin-1"), ["é"], ""),
    ({"content-type": 'application/json; charset="UTF8"'}, '["é"]'.encode(), ["é"], ""),
    (JSON, b'["a\nb\tc"]', ["a\nb\tc"], ""),
    (PLAIN, b"\xef\xbb\xbfa", "a", ""),
    ({}, b"\xef\xbb\xbfa", "a", ""),
    ({"content-type": "text/plain; charset=punycode"}, b"a", "a", ""),
    ({"content-type": "text/plain; charset=no-such-set"}, b"a", "a", ""),
]


@pytest.mark.parametrize(("headers", "body", "kept", "rule"), KEPT)
def test_answers_of_servers_that_nobody_here_wrote_are_kept(
    headers: dict[str, str], body: bytes, kept: Any, rule: str
) -> None:
    made = web_result(200, headers, body)
    assert made == answers.Answer(kept, (rule,) if rule else ())
    # What is kept is JSON that can be carried exactly.
    assert loads(canonical_text(made.data)) == made.data


def test_what_must_not_be_told_is_taken_out_before_the_text_is_cut() -> None:
    body = b"x" * (ANSWER_MOST - 5) + b"hunter2-hunter2"
    for status in (200, 500):
        with pytest.raises(ToolError) as raised:
            web_result(status, JSON, body, lambda text: text.replace("hunter2-hunter2", "[redacted]"))
        assert raised.value.details["answer"] == ("x" * ANSWER_MOST)[:-5] + "[reda"


def test_an_answer_of_many_numbers_keeps_one_note() -> None:
    assert web_result(200, JSON, b"[" + b"99999999999999999," * 10_000 + b"1]").notes == (answers.NUMBERS,)
