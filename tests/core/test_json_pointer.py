"""JSON Pointer, by the examples of RFC 6901 §5 and the rules of §4."""

import re
from typing import Any

import pytest

from core.json.pointer import POINTER, pointer_get

DOCUMENT: dict[str, Any] = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
}


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("", DOCUMENT),
        ("/foo", ["bar", "baz"]),
        ("/foo/0", "bar"),
        ("/", 0),
        ("/a~1b", 1),
        ("/c%d", 2),
        ("/e^f", 3),
        ("/g|h", 4),
        ("/i\\j", 5),
        ('/k"l', 6),
        ("/ ", 7),
        ("/m~0n", 8),
    ],
)
def test_the_examples_of_the_rfc(pointer: str, value: Any) -> None:
    assert re.search(POINTER, pointer)
    assert pointer_get(DOCUMENT, pointer) == value


def test_tilde_is_unescaped_last() -> None:
    assert pointer_get({"~1": "yes", "/": "no"}, "/~01") == "yes"


@pytest.mark.parametrize(
    "pointer",
    ["/none", "/foo/2", "/foo/-", "/foo/00", "/foo/-1", "/foo/0/x", "/foo/99999999999999999999", "//x"],
)
def test_what_is_not_there_is_a_lookup_error(pointer: str) -> None:
    with pytest.raises(LookupError):
        pointer_get(DOCUMENT, pointer)


@pytest.mark.parametrize("text", ["foo", "/~", "/~2", "/a~", "a/b"])
def test_malformed_pointers_do_not_fit_the_pattern(text: str) -> None:
    assert not re.search(POINTER, text)
