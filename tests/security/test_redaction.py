"""What is taken out of outputs: secrets in every form that they may be written in, and what patterns match."""

import base64
import html
import json
import logging
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.json.canonical import canonical
from security.patterns import pattern_compile
from security.redaction import MARK, Redactor, hiding

SECRET = 'p@ss w/rd"<ü>&7'
here = Redactor([SECRET])


@pytest.mark.parametrize(
    "written",
    [
        SECRET,
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        repr(SECRET)[1:-1],
        quote(SECRET, safe=""),
        quote(SECRET),
        quote_plus(SECRET),
        quote(SECRET, safe="").replace("%3C", "%3c").replace("%C3%BC", "%c3%bc").replace("%2F", "%2f"),
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
        html.escape(SECRET),
    ],
)
def test_every_way_to_write_it_is_found(written: str) -> None:
    assert here.text(f"before {written} after") == f"before {MARK} after"


@given(st.text(min_size=8, max_size=40), st.binary(max_size=7), st.binary(max_size=7), st.booleans())
def test_base64_of_a_text_around_it_tells_nothing(
    secret: str, before: bytes, after: bytes, safe: bool
) -> None:
    encode = base64.urlsafe_b64encode if safe else base64.b64encode
    told = Redactor([secret]).text(encode(before + secret.encode() + after).decode())
    assert MARK in told
    left = told.replace(MARK, "")
    # What is left holds the neighbours, and less than a byte of the secret at each end.
    assert len(left) <= (len(before) + len(after)) * 8 // 6 + 8


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_what_has_nothing_of_it_is_left_as_it_is(value: Any) -> None:
    assert Redactor(["hunter2-hunter2"]).value(value) is value


def test_a_secret_that_was_pasted_with_white_space_is_found_without_it() -> None:
    redactor = Redactor(["hunter2-hunter2\n"])
    assert redactor.text("Bearer hunter2-hunter2") == "Bearer [redacted]"
    assert redactor.text("hunter2-hunter2\n!") == "[redacted]!"


def test_values_are_searched_to_the_ground() -> None:
    numbers = Redactor(["123456789", "hunter2-hunter2"])
    value = {
        "a": [1, 123456789, 1234567891.5, True],
        "hunter2-hunter2": {"b": "xhunter2-hunter2x"},
        "c": None,
    }
    assert numbers.value(value) == {"a": [1, MARK, MARK, True], MARK: {"b": f"x{MARK}x"}, "c": None}


@given(st.text(min_size=8, max_size=30), st.integers(0, 6), st.text(max_size=5))
def test_a_quick_look_at_the_document_misses_nothing(secret: str, way: int, around: str) -> None:
    raw = secret.encode(errors="ignore")
    written = [
        secret,
        json.dumps(secret)[1:-1],
        repr(secret)[1:-1],
        quote(secret, safe="").lower(),
        raw.hex(),
        html.escape(secret),
        base64.b64encode(raw).decode(),
    ][way]
    redactor = Redactor([secret])
    value = {"a": [f"{around}{written}{around}"]}
    if redactor.value(value) is not value:
        assert redactor.may_be_in(canonical(value).decode())


def test_the_longer_of_two_secrets_is_not_cut_by_the_shorter() -> None:
    assert Redactor(["hunter2-", "hunter2-hunter2"]).text("hunter2-hunter2") == MARK


def test_patterns_take_out_all_that_they_match() -> None:
    patterns = Redactor((), [pattern_compile(r"bill_[0-9a-f]{8}"), pattern_compile(r"(?i)internal-\d+")])
    text = "a bill_0123abcd b bill_ffffffff, INTERNAL-7 ü"
    assert patterns.text(text) == f"a {MARK} b {MARK}, {MARK} ü"


def test_a_long_text_is_searched_in_time() -> None:
    text = "a" * 1_000_000
    assert Redactor(["hunter2-hunter2"], [pattern_compile("(a|aa)+$b")]).text(text) == text


def test_records_are_made_without_it_whoever_logs(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    log = logging.getLogger("some.library")
    with hiding(here):
        log.info("key %s", SECRET)
        try:
            raise RuntimeError(SECRET)
        except RuntimeError:
            log.exception("failed", stack_info=True)
    log.info("outside %s", "plain")
    assert SECRET not in caplog.text
    assert "RuntimeError: [redacted]" in caplog.text
    assert caplog.records[-1].args == ("plain",)


KEY_LINES = [
    "MIIEvQIBADANBgkqhkiG9w0BAQ+/AASCBKc",
    "wggSjAgEAAoIBAQC7VJTUt9Us8cKjMzEfYyj",
    "iWA4R4/M2bS1GB4t7NXp98C3SC==",
]
KEY = "\n".join(["-----BEGIN PRIVATE KEY-----", *KEY_LINES, "-----END PRIVATE KEY-----", ""])


@pytest.mark.parametrize("stored", [KEY, KEY.replace("\n", "\r\n"), json.dumps({"private_key": KEY})])
@pytest.mark.parametrize(
    "write",
    [
        str,
        lambda line: quote(line, safe=""),
        lambda line: quote(line, safe="").replace("%2B", "%2b").replace("%2F", "%2f").replace("%3D", "%3d"),
        lambda line: base64.b64encode(line.encode()).decode().rstrip("="),
        lambda line: line.encode().hex(),
        json.dumps,
    ],
)
def test_a_secret_of_several_lines_is_found_line_by_line(stored: str, write: Any) -> None:
    redactor = Redactor([stored])
    told = [redactor.text(f"> {write(line)} <") for line in KEY_LINES]
    assert all(MARK in text and len(text) < 20 for text in told)
    assert redactor.value(KEY.splitlines())[1:4] == [MARK] * 3
    assert redactor.text("-----BEGIN PRIVATE KEY-----") == "-----BEGIN PRIVATE KEY-----"
    assert MARK in redactor.text(KEY[: len(KEY) // 2])


def test_short_lines_of_a_secret_are_no_secrets() -> None:
    redactor = Redactor(["{\n}\nyes\nno\nhunter2-hunter2"])
    assert redactor.text("yes { no }") == "yes { no }"
    assert redactor.text("hunter2-hunter2") == MARK
