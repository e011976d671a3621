"""The strict parser: what it refuses, by which code, and that what it accepts means one thing only."""

import contextlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.json.canonical import canonical
from core.json.strict import Limits, StrictJSONError, loads

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)

REFUSED = [
    # name, text, code
    ("nothing", b"", "NOT_JSON"),
    ("only white space", b" \n", "NOT_JSON"),
    ("a word", b"hello", "NOT_JSON"),
    ("single quotes", b"{'a': 1}", "NOT_JSON"),
    ("a trailing comma in an array", b"[1,]", "NOT_JSON"),
    ("a trailing comma in an object", b'{"a":1,}', "NOT_JSON"),
    ("a comment", b"[1] // one", "NOT_JSON"),
    ("a second text", b"{} {}", "NOT_JSON"),
    ("an open array", b"[1", "NOT_JSON"),
    ("an open string", b'"a', "NOT_JSON"),
    ("a raw NUL", b'"a\x00"', "NOT_JSON"),
    ("a raw line break in a string", b'"a\nb"', "NOT_JSON"),
    ("a NUL between values", b"[1,\x00 2]", "NOT_JSON"),
    ("a vertical tab as white space", b"[1,\x0b2]", "NOT_JSON"),
    ("a no-break space as white space", "[1,\u00a02]".encode(), "NOT_JSON"),
    ("an unknown escape", rb'"\x41"', "NOT_JSON"),
    ("a short escape", rb'"\u12"', "NOT_JSON"),
    ("an escape with a sign", rb'"\u+123"', "NOT_JSON"),
    ("a leading zero", b"01", "NOT_JSON"),
    ("a leading plus", b"+1", "NOT_JSON"),
    ("a bare point", b".5", "NOT_JSON"),
    ("a point at the end", b"1.", "NOT_JSON"),
    ("a hexadecimal number", b"0x10", "NOT_JSON"),
    ("digits with underscores", b"1_000", "NOT_JSON"),
    ("digits of another script", "[\u0661]".encode(), "NOT_JSON"),
    ("True", b"True", "NOT_JSON"),
    ("a byte order mark", b"\xef\xbb\xbf{}", "NOT_JSON"),
    ("UTF-16", '{"a":1}'.encode("utf-16"), "NOT_JSON"),
    ("bytes that are no UTF-8", b'"\xff"', "NOT_JSON"),
    ("an overlong NUL", b'"\xc0\x80"', "NOT_JSON"),
    ("a surrogate as UTF-8", b'"\xed\xa0\x80"', "NOT_JSON"),
    ("NaN", b"NaN", "NUMBER_NOT_FINITE"),
    ("Infinity inside", b'{"a":[Infinity]}', "NUMBER_NOT_FINITE"),
    ("-Infinity", b"[-Infinity]", "NUMBER_NOT_FINITE"),
    ("1e400", b"1e400", "NUMBER_OUT_OF_RANGE"),
    ("-1e400", b'{"a":-1E+400}', "NUMBER_OUT_OF_RANGE"),
    ("a fraction beyond range", b"123.4e999", "NUMBER_OUT_OF_RANGE"),
    ("a number that would become 0", b"1e-400", "NUMBER_OUT_OF_RANGE"),
    ("an integer of 5,000 digits", b"9" * 5000, "NUMBER_OUT_OF_RANGE"),
    ("an integer of a million digits", b"[" + b"1" * 1_000_000 + b"]", "NUMBER_OUT_OF_RANGE"),
    ("2^53 + 1", b"9007199254740993", "NUMBER_NOT_EXACT"),
    ("-(2^53 + 1)", b"[-9007199254740993]", "NUMBER_NOT_EXACT"),
    ("an integer of 20 digits", b"12345678901234567890", "NUMBER_NOT_EXACT"),
    ("10^21, which ECMAScript writes 1e+21", b"1" + b"0" * 21, "NUMBER_NOT_EXACT"),
    ("an integer of 300 digits", b"9" * 300, "NUMBER_NOT_EXACT"),
    ("a name twice", b'{"a":1,"b":2,"a":3}', "DUPLICATE_KEY"),
    ("a name twice, once escaped", rb'{"a":1,"\u0061":2}', "DUPLICATE_KEY"),
    ("a name twice, deep inside", b'[{"x":{"a":1,"a":1}}]', "DUPLICATE_KEY"),
    ("the empty name twice", b'{"":1,"":2}', "DUPLICATE_KEY"),
    ("a high surrogate alone", rb'"\ud800"', "LONE_SURROGATE"),
    ("a low surrogate alone", rb'"\uDC00"', "LONE_SURROGATE"),
    ("surrogates in the wrong order", rb'"\udc00\ud800"', "LONE_SURROGATE"),
    ("two high surrogates before a low one", rb'"\ud83d\ud83d\ude00"', "LONE_SURROGATE"),
    ("a surrogate alone in a name", rb'{"\ud800":1}', "LONE_SURROGATE"),
    ("a surrogate behind an escaped backslash", rb'"\\\ud800"', "LONE_SURROGATE"),
    ("100,000 arrays", b"[" * 100_000 + b"]" * 100_000, "TOO_DEEP"),
    ("100,000 arrays that never close", b"[" * 100_000, "TOO_DEEP"),
    ("100,000 objects", b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "TOO_DEEP"),
    ("65 levels of both kinds", b'[{"a":' * 32 + b"[]" + b"}]" * 32, "TOO_DEEP"),
    ("65 levels behind strings with quotes", rb'["\"","\\",' + b"[" * 64 + b"]" * 65, "TOO_DEEP"),
    ("more than 1 MiB", b'"' + b"a" * 1_048_576 + b'"', "TOO_LARGE"),
]


@pytest.mark.parametrize(("text", "code"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_is_not_strict_json_is_refused_by_its_code(text: bytes, code: str) -> None:
    with pytest.raises(StrictJSONError) as refused:
        loads(text)
    assert refused.value.code == code
    assert refused.value.message.encode()  # can be sent: no half surrogate pair in it
    assert len(refused.value.message) < 300


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b" \t\r\n[ ] \n", []),
        (b'{"a":{"b":[1,-2,3.5,true,false,null,"x"]}}', {"a": {"b": [1, -2, 3.5, True, False, None, "x"]}}),
        (rb'"\u0000"', "\x00"),
        (rb'"\ud83d\ude00\uD83D\uDE00"', "\U0001f600\U0001f600"),
        (rb'"\\ud800"', "\\ud800"),
        (rb'"\\\\ud800 \u00e9"', "\\\\ud800 é"),
        ('"\u2028\u007f\ufeff"'.encode(), "\u2028\u007f\ufeff"),
        (b'{"a":1,"A":2}', {"a": 1, "A": 2}),
        ('{"é":1,"e\u0301":2}'.encode(), {"é": 1, "e\u0301": 2}),  # other code points, so other names
        ('"text"', "text"),
        (b"[" * 64 + b"]" * 64, None),
        (b'["' + b"[" * 1000 + b'"]', ["[" * 1000]),
        (b"[" + b"[]," * 1000 + b"[]]", [[]] * 1001),
        (rb'["\"[[\\", "]"]', ['"[[\\', "]"]),
    ],
)
def test_what_is_strict_json_is_read(text: bytes | str, value: object) -> None:
    assert loads(text) == (json.loads(text) if value is None else value)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (b"9007199254740991", 9007199254740991),
        (b"-9007199254740991", -9007199254740991),
        (b"-0", 0),
        (b"1e308", 1e308),
        (b"5e-324", 5e-324),
        (b"0e999", 0.0),
        (b"0.1000000000000000055511151231257827", 0.1),
        # the ECMAScript form of the double, so an integer's digits say all (RFC 8785 Appendix B)
        (b"9007199254740992", 9007199254740992.0),
        (b"-9007199254740992", -9007199254740992.0),
        (b"295147905179352830000", 295147905179352830000.0),
        (b"999999999999999900000", 999999999999999900000.0),
        (b"100000000000000000000", 1e20),
        (b"1e+21", 1e21),
    ],
)
def test_a_number_that_a_double_holds_is_read(text: bytes, number: float) -> None:
    read = loads(text)
    assert read == number
    assert type(read) is type(number)


def test_minus_zero_with_a_fraction_keeps_its_sign() -> None:
    read = loads(b"-0.0")
    assert isinstance(read, float)
    assert math.copysign(1, read) == -1


@pytest.mark.parametrize(
    ("text", "position", "pointer"),
    [
        ('{"a/b": [1, {"~": NaN}]}', 18, "/a~1b/1/~0"),
        ('{"a": "NaN", "b": -Infinity}', 18, "/b"),
        ('{"é": 1e400}', 6, "/é"),
        ("[1, 2, 9007199254740993]", 7, "/2"),
        ('{"x": 1, "y": {"k": 1, "j": 2, "k": 3}}', 31, "/y/k"),
        ("1e400", 0, ""),
        ('["a", "\\ud800"]', 7, None),
        ("[1, }", 4, None),
    ],
)
def test_a_refusal_says_where(text: str, position: int, pointer: str | None) -> None:
    with pytest.raises(StrictJSONError) as refused:
        loads(text.encode())
    assert (refused.value.position, refused.value.pointer) == (position, pointer)


def test_bytes_and_characters_are_not_mixed_up_in_a_position() -> None:
    with pytest.raises(StrictJSONError) as refused:
        loads("é".encode() + b"\xff")
    assert refused.value.position == 1


def test_a_str_with_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(StrictJSONError) as refused:
        loads('"\ud800"')
    assert (refused.value.code, refused.value.position) == ("LONE_SURROGATE", 1)


def test_a_duplicate_name_with_half_a_surrogate_pair_gives_a_pointer_that_can_be_sent() -> None:
    with pytest.raises(StrictJSONError) as refused:
        loads(rb'{"\ud800":1,"\ud800":2}')
    assert refused.value.pointer == r"/\ud800"


def test_the_limits_are_the_callers() -> None:
    limits = Limits(max_bytes=4, max_depth=1)
    assert loads(b"[12]", limits=limits) == [12]
    for text, code in (("[123]", "TOO_LARGE"), ("[éé]", "TOO_LARGE"), ("[[]]", "TOO_DEEP")):
        with pytest.raises(StrictJSONError) as refused:
            loads(text, limits=limits)
        assert refused.value.code == code


@given(VALUES)
def test_canonical_text_is_read_again_and_means_the_same(value: object) -> None:
    text = canonical(value)
    assert canonical(loads(text)) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_survives_its_canonical_text(number: float) -> None:
    assert loads(canonical(number)) == number


@given(st.lists(st.sampled_from([*'[]{}:,"\\ue19-.', '"a":', "null", "true", '\\"', "\\ud800"]), max_size=30))
def test_whatever_is_accepted_reads_as_the_standard_library_reads_it(parts: list[str]) -> None:
    text = "".join(parts)
    try:
        value = loads(text)
    except StrictJSONError:
        return
    assert value == json.loads(text)


@given(st.text(alphabet='[]{}"\\ ,:a1', max_size=60))
def test_no_other_error_ever_comes_out(text: str) -> None:
    with contextlib.suppress(StrictJSONError):
        loads(text)
