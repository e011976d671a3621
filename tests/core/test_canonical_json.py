"""RFC 8785, against the RFC's own vectors, the rfc8785 package and Node."""

import json
import random
import shutil
import struct
import subprocess
import uuid
from collections import OrderedDict
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum

import orjson
import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from core.json.canonical import CanonicalError, canonical
from toolhub_sdk.canonical import canonical_text, number_text

NODE = shutil.which("node")

# RFC 8785 Appendix B: bits of the double, its text
APPENDIX_B = [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555554", "333333333.33333325"),
    ("41b3de4355555555", "333333333.3333333"),
    ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
]

# Where forms change: ECMAScript's exponents, integers that are no double of their own, subnormal doubles.
BORDERS = [0.0, 5e-324, 2.0**-1022, 1e-7, 1e-6, 1e-4, 2.0**53, 2.0**63, 1e15, 1e16, 1e20, 1e21, 1e22, 1e23]


def beside(border: float, steps: int) -> float:
    """The double so many doubles beside it."""
    bits: int = struct.unpack(">q", struct.pack(">d", border))[0]
    return float(struct.unpack(">d", struct.pack(">q", max(0, bits + steps)))[0])


AT_BORDERS = st.builds(beside, st.sampled_from(BORDERS), st.integers(-40, 40))
# Few digits at every power of ten are written in each of the forms; their neighbours need 16 or 17 digits.
FEW_DIGITS = st.builds(
    lambda digits, power: float(f"{digits}e{power}"), st.integers(1, 9999), st.integers(-327, 304)
)
DIGITS = st.builds(beside, FEW_DIGITS, st.integers(-3, 3))
SUBNORMAL = st.builds(beside, st.just(0.0), st.integers(0, 2**52))
ANY_BITS = st.builds(beside, st.just(0.0), st.integers(0, (0x7FF << 52) - 1))
# A fraction from 0 to 1 with many digits, and whole doubles up to where an exponent begins.
MIDDLING = st.floats(-1e24, 1e24) | st.integers(-(10**22), 10**22).map(float)
POSITIVE = AT_BORDERS | DIGITS | SUBNORMAL | ANY_BITS | MIDDLING
FLOATS = st.builds(lambda number, sign: sign * number, POSITIVE, st.sampled_from([1.0, -1.0]))
INTEGERS = st.integers(-(2**53) + 1, 2**53 - 1) | st.integers(2**53 - 40, 2**53 - 1) | st.integers(-40, 40)
NUMBERS = INTEGERS | FLOATS
MIXED_PLANES = st.text(alphabet="a\u00e9\ud7ff\ue000\uffff\U00010000\U0010ffff", max_size=3)
NAMES = st.text() | MIXED_PLANES
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | NAMES,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(NAMES, inner, max_size=6),
    max_leaves=30,
)


def double(bits: str) -> float:
    return float(struct.unpack(">d", bytes.fromhex(bits))[0])


@pytest.mark.parametrize(("bits", "text"), APPENDIX_B)
def test_numbers_are_written_as_appendix_b_has_them(bits: str, text: str) -> None:
    assert canonical(double(bits)) == text.encode()
    assert canonical({"n": [double(bits)]}) == f'{{"n":[{text}]}}'.encode()
    assert canonical_text(double(bits)) == text


@given(st.lists(FLOATS, min_size=30, max_size=60))
def test_any_double_is_written_as_the_reference_writes_it_and_reads_back(numbers: list[float]) -> None:
    for number in numbers:
        text = rfc8785.dumps(number)
        assert canonical(number) == text
        assert canonical_text(number).encode() == number_text(number).encode() == text
        assert float(text) == number
    assert canonical(numbers) == rfc8785.dumps(numbers)


@given(st.integers(-(10**22), 10**22) | st.integers(2**53 - 99, 2**53 + 99) | FLOATS.map(int))
def test_an_integer_is_accepted_where_it_is_written_as_its_double_is(number: int) -> None:
    """Beyond 2^53 the reference refuses all; here those stay whose digits no reader loses."""
    if abs(number) < 2**53 or (abs(number) < 10**21 and rfc8785.dumps(float(number)) == str(number).encode()):
        assert canonical([number]) == f"[{number}]".encode()
        assert canonical_text(number) == str(number)
        return
    for write in (canonical, canonical_text):
        with pytest.raises(ValueError, match="double"):
            write(number)


@pytest.mark.parametrize("bits", ["7fffffffffffffff", "7ff0000000000000", "fff0000000000000"])
def test_nan_and_infinities_are_refused_wherever_they_stand(bits: str) -> None:
    for value in (double(bits), [None, double(bits)], {"a": {"b": double(bits)}}):
        with pytest.raises(CanonicalError):
            canonical(value)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (5.0, "5"),
        (-0.0, "0"),
        (1e-7, "1e-7"),
        (1e-6, "0.000001"),
        (1.5e-5, "0.000015"),
        (0.0001, "0.0001"),
        (1e15, "1000000000000000"),
        (1e16, "10000000000000000"),
        (123456789012345680.0, "123456789012345680"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (-2.5e-10, "-2.5e-10"),
    ],
)
def test_numbers_at_the_borders_of_ecmascripts_forms(number: float, text: str) -> None:
    assert canonical([number]) == f"[{text}]".encode()


def test_the_example_of_section_3_2_2() -> None:
    value = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/",
        "literals": [None, True, False],
    }
    assert canonical(value).decode() == (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_names_are_sorted_by_utf16_code_units_as_in_section_3_2_3() -> None:
    value = {
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\U0001f600": "Emoji: Grinning Face",
        "\u0080": "Control",
        "\u00f6": "Latin Small Letter O With Diaeresis",
    }
    expected = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert list(json.loads(canonical(value))) == expected
    inside = json.loads(canonical({"z": 1.0, "a": [value]}))
    assert list(inside["a"][0]) == expected
    assert list(inside) == ["a", "z"]


@given(VALUES)
@example({"\ue000": 1.0, "\U00010000": {"\uffff": -0.0, "\U0010ffff": [1e21]}})
@example([5.0, "5.0", ",1.0,", {"1e16": 1e16, "a": '"1.0"'}])
def test_any_value_is_written_as_the_reference_writes_it(value: object) -> None:
    expected = rfc8785.dumps(value)  # type: ignore[arg-type]
    assert canonical(value) == expected
    assert canonical_text(value).encode() == expected


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_twenty_thousand_doubles_are_written_as_node_writes_them() -> None:
    chance = random.Random(8785)
    numbers = [double(f"{chance.getrandbits(64):016x}") for _ in range(10_000)]
    numbers += [chance.uniform(-1, 1) * 10.0 ** chance.randint(-9, 24) for _ in range(5_000)]
    numbers += [float(chance.randint(-(10**22), 10**22)) for _ in range(5_000)]
    bits = [struct.pack(">d", number).hex() for number in numbers if abs(number) < float("inf")]
    script = (
        "const b=Buffer.from(require('fs').readFileSync(0,'latin1'),'hex');"
        "for(let i=0;i<b.length;i+=8)console.log(JSON.stringify(b.readDoubleBE(i)))"
    )
    done = subprocess.run(
        [str(NODE), "-e", script], input="".join(bits), capture_output=True, text=True, check=True
    )
    expected = done.stdout.split()
    assert len(expected) == len(bits) > 19_000
    assert [number_text(double(each)) for each in bits] == expected
    assert canonical([double(each) for each in bits]).decode() == f"[{','.join(expected)}]"


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_every_character_is_written_and_sorted_as_node_does() -> None:
    characters = [
        chr(code) for code in (*range(0xD800), *range(0xE000, 0x10000), *range(0x10000, 0x110000, 97))
    ]
    value = {character: character for character in characters}
    script = (
        "const v=JSON.parse(require('fs').readFileSync(0,'utf8'));"
        "process.stdout.write('{'+Object.keys(v).sort().map(k=>JSON.stringify(k)+':'+JSON.stringify(v[k])).join()+'}')"
    )
    done = subprocess.run(
        [str(NODE), "-e", script], input=orjson.dumps(value), capture_output=True, check=True
    )
    assert canonical(value) == done.stdout


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (2**53 - 1, "9007199254740991"),
        (2**53, "9007199254740992"),
        (-(2**53), "-9007199254740992"),
        (10**20, "100000000000000000000"),
        (295147905179352830000, "295147905179352830000"),
    ],
)
def test_an_integer_whose_digits_are_the_doubles_form_is_accepted(number: int, text: str) -> None:
    assert canonical([number]) == f"[{text}]".encode() == f"[{number_text(float(number))}]".encode()


@pytest.mark.parametrize(
    "number",
    [2**53 + 1, -(2**53) - 1, 2**63 + 1, 2**68, 10**21, 10**400, pytest.param(-(10**5000), id="5001 digits")],
)
def test_an_integer_that_a_double_would_change_is_refused(number: int) -> None:
    with pytest.raises(CanonicalError):
        canonical({"n": number})


class Colour(Enum):
    RED = "red"


class Word(StrEnum):
    YES = "yes"


class Level(IntEnum):
    HIGH = 3


@pytest.mark.parametrize(
    "value",
    [
        {1, 2},
        b"bytes",
        Decimal("1.5"),
        datetime(2026, 1, 1, tzinfo=UTC),
        uuid.UUID(int=1),
        Colour.RED,
        object(),
        {1: "a"},
        {None: "a"},
        "\ud800",
        {"\udc00": 1},
        orjson.Fragment(b"1.0"),
    ],
)
def test_what_is_not_json_is_refused(value: object) -> None:
    for each in (value, [value], {"a": [value]}):
        with pytest.raises(CanonicalError):
            canonical(each)


def test_subclasses_are_written_as_what_they_derive_from() -> None:
    value = OrderedDict(b=(1, 2.0), a=[Word.YES, Level.HIGH])
    assert canonical(value) == b'{"a":["yes",3],"b":[1,2]}'


def test_two_hundred_levels_are_written_and_more_refused() -> None:
    value: object = 1.0
    for _ in range(200):
        value = [value]
    assert canonical(value) == b"[" * 200 + b"1" + b"]" * 200
    with pytest.raises(CanonicalError):
        canonical([value])


def test_a_value_that_contains_itself_is_refused() -> None:
    value: list[object] = []
    value.append(value)
    with pytest.raises(CanonicalError):
        canonical(value)


def test_the_value_is_left_as_it_was() -> None:
    value = {"b": [1.0, {"c": 2.0}], "a": -0.0}
    canonical(value)
    assert repr(value) == "{'b': [1.0, {'c': 2.0}], 'a': -0.0}"
