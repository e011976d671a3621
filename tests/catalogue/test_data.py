"""echo, hash and json_parse."""

import hashlib
import math
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogue import data
from core.json.canonical import canonical
from toolhub_sdk import ToolContext, ToolError, call, loads


def run(function: Any, **arguments: Any) -> Any:
    return call(function, arguments, ToolContext())


def refusal(function: Any, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as refused:
        run(function, **arguments)
    return refused.value


@given(st.text())
def test_echo_returns_its_text(text: str) -> None:
    assert run(data.echo, text=text) == {"text": text}


def test_echo_returns_nul_and_accents() -> None:
    assert run(data.echo, text="é\x00") == {"text": "é\x00"}


def blake3_input(length: int) -> bytes:
    return bytes(number % 251 for number in range(length))


# BLAKE3's official test_vectors.json, first 32 bytes of `hash`; input is 0, 1, … 250, 0, 1, …
BLAKE3_VECTORS = [
    (0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"),
    (1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"),
    (2, "7b7015bb92cf0b318037702a6cdd81dee41224f734684c2c122cd6359cb1ee63"),
    (3, "e1be4d7a8ab5560aa4199eea339849ba8e293d55ca0a81006726d184519e647f"),
    (1023, "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11"),
    (1024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"),
    (1025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"),
    (2049, "5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b6879522563030"),
    (5121, "628bd2cb2004694adaab7bbd778a25df25c47b9d4155a55f8fbd79f2fe154cff"),
]


@pytest.mark.parametrize(("length", "expected"), BLAKE3_VECTORS)
def test_blake3_of_the_official_vectors(length: int, expected: str) -> None:
    encoded = b64encode(blake3_input(length)).decode()
    assert run(data.hash, base64=encoded) == {"algorithm": "blake3", "hash": expected}


@pytest.mark.parametrize(
    ("text", "expected"),
    [  # FIPS 180-4 examples
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
        ),
    ],
)
def test_sha256_of_the_standards_examples(text: str, expected: str) -> None:
    assert run(data.hash, text=text, algorithm="sha256") == {"algorithm": "sha256", "hash": expected}


@pytest.mark.parametrize(
    ("encoded", "octets"),
    [
        ("", b""),
        ("Zg==", b"f"),
        ("Zm8=", b"fo"),
        ("Zm9v", b"foo"),
        ("Zm9vYg==", b"foob"),
        ("Zm9vYmE=", b"fooba"),
        ("Zm9vYmFy", b"foobar"),
        ("/+8=", b"\xff\xef"),
    ],
)
def test_base64_is_read_as_rfc_4648_section_10_has_it(encoded: str, octets: bytes) -> None:
    expected = hashlib.sha256(octets).hexdigest()
    assert run(data.hash, base64=encoded, algorithm="sha256")["hash"] == expected


def test_a_text_and_its_utf8_bytes_have_one_hash() -> None:
    assert run(data.hash, text="é") == run(data.hash, base64="w6k=")


@pytest.mark.parametrize(
    "arguments", [{}, {"text": "", "base64": ""}, {"text": None}, {"base64": None, "text": None}]
)
def test_hash_wants_exactly_one_input(arguments: dict[str, Any]) -> None:
    refused = refusal(data.hash, **arguments)
    assert (refused.code, refused.recoverable) == ("ONE_INPUT_NEEDED", True)
    assert refused.suggestions


@pytest.mark.parametrize(
    "encoded", ["Zg", "Zg=", "Zg===", "Zh==", "Zm9v\n", " Zm9v", "_-8=", "Zm=9", "====", "é"]
)
def test_base64_that_is_not_canonical_is_refused(encoded: str) -> None:
    assert refusal(data.hash, base64=encoded).code == "INVALID_BASE64"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ('{"a":[1,2.5,"é\\u0000"]}', {"a": [1, 2.5, "é\x00"]}),
        ("[" * 63 + "]" * 63, loads("[" * 63 + "]" * 63)),
    ],
)
def test_json_parse_gives_the_value(text: str, value: object) -> None:
    assert run(data.json_parse, text=text) == {"data": value}


@pytest.mark.parametrize(
    ("text", "details"),
    [
        ('{"a" 1}', {"code": "NOT_JSON", "position": 5, "pointer": None}),
        ('{"a": 1, "a": 2}', {"code": "DUPLICATE_KEY", "position": 9, "pointer": "/a"}),
        ('{"a": NaN}', {"code": "NUMBER_NOT_FINITE", "position": 6, "pointer": "/a"}),
        ("[1e400]", {"code": "NUMBER_OUT_OF_RANGE", "position": 1, "pointer": "/0"}),
        ('["\\ud800"]', {"code": "LONE_SURROGATE", "position": 2, "pointer": None}),
        ("[" * 64 + "]" * 64, {"code": "TOO_DEEP", "position": None, "pointer": None}),
        ("", {"code": "NOT_JSON", "position": 0, "pointer": None}),
    ],
)
def test_json_parse_says_what_is_wrong_and_where(text: str, details: dict[str, object]) -> None:
    refused = refusal(data.json_parse, text=text)
    assert refused.code == "INVALID_JSON"
    assert refused.details == details
    assert refused.recoverable
    assert refused.suggestions


def test_what_json_parse_gives_can_be_sent_and_read_again() -> None:
    result = run(data.json_parse, text="[" * 63 + "9007199254740992, 1e21, -0.0" + "]" * 63)
    assert loads(canonical(result)) == result


def test_json_parse_of_a_great_integer_in_ecmascripts_form_is_a_float() -> None:
    parsed = run(data.json_parse, text="9007199254740992")["data"]
    assert isinstance(parsed, float)
    assert parsed == math.ldexp(1, 53)
