"""The body of a request: JSON whatever it calls itself, and refused by a code where it is not."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from execution.models import Run

pytestmark = pytest.mark.django_db
Call = Callable[..., Any]
URL = "/api/v1/tools/echo/execute"

# Faults 22, each as the text of an argument.
HOSTILE = {
    "depth 100,000": (b'{"arguments":{"text":' + b"[" * 100_000 + b"]" * 100_000 + b"}}", "TOO_DEEP"),
    "depth 100,000 of objects": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "TOO_DEEP"),
    "depth 100,000, never closed": (b"[" * 100_000, "TOO_DEEP"),
    "an integer of 5,000 digits": (b'{"arguments":{"text":' + b"9" * 5000 + b"}}", "NUMBER_OUT_OF_RANGE"),
    "an integer that no double holds": (b'{"arguments":{"text":9007199254740993}}', "NUMBER_NOT_EXACT"),
    "1e400": (b'{"arguments":{"text":1e400}}', "NUMBER_OUT_OF_RANGE"),
    "NaN": (b'{"arguments":{"text":NaN}}', "NUMBER_NOT_FINITE"),
    "-Infinity": (b'{"arguments":{"text":-Infinity}}', "NUMBER_NOT_FINITE"),
    "duplicate keys": (b'{"arguments":{"text":"a","text":"b"}}', "DUPLICATE_KEY"),
    "duplicate keys, one escaped": (b'{"arguments":{"text":"a","te\\u0078t":"b"}}', "DUPLICATE_KEY"),
    "half a surrogate pair": (b'{"arguments":{"text":"\\ud800"}}', "LONE_SURROGATE"),
    "half a surrogate pair in a name": (b'{"arguments":{"\\udfff":"a"}}', "LONE_SURROGATE"),
    "no JSON": (b"text=hello", "NOT_JSON"),
    "two texts": (b"{} {}", "NOT_JSON"),
    "no UTF-8": (b'{"arguments":{"text":"\xff"}}', "NOT_JSON"),
}


@pytest.mark.parametrize(("body", "code"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_body_is_400_with_its_code(
    call: Call, assign: Callable[[str], None], body: bytes, code: str
) -> None:
    assign("echo")
    response = call("echo", body=body)
    assert (response.status_code, response.json()["error"]["code"]) == (400, code)
    assert response["Content-Type"] == "application/problem+json"
    assert len(response.content) < 2000


def test_a_nul_character_comes_back_whole(call: Call, assign: Callable[[str], None]) -> None:
    assign("echo")
    response = call("echo", body=b'{"arguments":{"text":"a\\u0000b"}}')
    assert response.status_code == 200
    assert response.json()["data"] == {"text": "a\x00b"}


def test_one_octet_beyond_a_mebibyte_is_413(call: Call, assign: Callable[[str], None]) -> None:
    assign("echo")
    frame = len(b'{"arguments":{"text":""}}')
    whole = b'{"arguments":{"text":"%s"}}' % (b"x" * (1_048_576 - frame))
    assert len(whole) == 1_048_576
    refused = call("echo", body=whole + b" ")
    assert (refused.status_code, refused.json()["error"]["code"]) == (413, "TOO_LARGE")
    # exactly a mebibyte is read: the tool runs, though its output is beyond its bound
    assert call("echo", body=whole).status_code == 200


@pytest.mark.parametrize(
    "content_type",
    [
        "",
        "application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain",
        "nonsense",
    ],
)
def test_the_body_is_json_whatever_its_content_type(
    client: Client, token_text: str, assign: Callable[[str], None], content_type: str
) -> None:
    assign("echo")
    response = client.generic(
        "POST",
        URL,
        b'{"arguments":{"text":"hello"}}',
        content_type,
        HTTP_AUTHORIZATION=f"Bearer {token_text}",
    )
    assert response.status_code == 200
    assert response.json()["data"] == {"text": "hello"}


def test_an_empty_body_is_an_empty_object(call: Call, assign: Callable[[str], None]) -> None:
    assign("current_time")
    response = call("current_time", body=b"")
    assert response.status_code == 200
    assert response.json()["data"]["timezone"] == "UTC"


def test_the_place_of_the_fault_is_told(call: Call, assign: Callable[[str], None]) -> None:
    assign("echo")
    body = call("echo", body=b'{"arguments":{"text":NaN}}').json()
    assert body["error"]["details"]["position"] == 21
    assert "/arguments/text" in json.dumps(body)


def test_a_body_that_is_refused_leaves_no_run(call: Call, assign: Callable[[str], None]) -> None:
    assign("echo")
    call("echo", body=b"{")
    assert not Run.objects.exists()
