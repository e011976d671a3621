"""What a tool may return, and what its caller then gets."""

import math
import uuid
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.json.canonical import canonical
from toolhub_sdk import ToolError, loads, normalise

KATHMANDU = timezone(timedelta(hours=5, minutes=45))


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


class Word(StrEnum):
    YES = "yes"


@dataclass
class Point:
    x: int
    tags: frozenset[str]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((1, (2, [3])), [1, [2, [3]]]),
        ({3, 1, 2}, [1, 2, 3]),
        ({10, 9, "a", None, True}, ["a", 10, 9, None, True]),
        (frozenset({"b", "a", "é", "\U0001f600", "\uffff"}), ["a", "b", "é", "\uffff", "\U0001f600"]),
        ({(2, 1), (1, 2)}, [[1, 2], [2, 1]]),
        (b"\x00\x01", {"base64": "AAE=", "mediaType": "application/octet-stream"}),
        (bytearray(b""), {"base64": "", "mediaType": "application/octet-stream"}),
        (Point(1, frozenset({"b", "a"})), {"x": 1, "tags": ["a", "b"]}),
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        ({Word.YES: Word.YES}, {"yes": "yes"}),
        (datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC), "2026-02-03T04:05:06Z"),
        (datetime(2026, 1, 1, 0, 0, 0, 5, tzinfo=KATHMANDU), "2025-12-31T18:15:00.000005Z"),
        (date(2026, 2, 3), "2026-02-03"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Decimal("1.10"), "1.10"),
        (MappingProxyType({"a": 1}), {"a": 1}),
        (2**53 - 1, 9007199254740991),
        ("é\x00", "é\x00"),
        (None, None),
    ],
)
def test_a_value_becomes_plain_json(value: object, expected: object) -> None:
    assert normalise(value) == expected


def test_only_plain_types_come_out() -> None:
    plain = normalise({Word.YES: [Level.HIGH, Word.YES, True, 1.5]})
    assert isinstance(plain, dict)
    assert [type(name) for name in plain] == [str]
    values = plain["yes"]
    assert isinstance(values, list)
    assert [type(value) for value in values] == [int, str, bool, float]


def test_minus_zero_stays_a_float() -> None:
    assert math.copysign(1, normalise(-0.0)) == -1  # type: ignore[arg-type]


def cycle() -> list[object]:
    value: list[object] = [1]
    value.append({"again": value})
    return value


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "pointer", "says"),
    [
        ({"a": [1.0, math.nan]}, "/a/1", "nan"),
        (math.inf, "", "inf"),
        ({"a/b": {"~": -math.inf}}, "/a~1b/~0", "inf"),
        ({"n": 2**53}, "/n", "return it as a string"),
        ([-(2**53)], "/0", "return it as a string"),
        ({"a": {1: "x"}}, "/a", "not a string"),
        ({"a": object()}, "/a", "type object"),
        ([1, Point], "/1", "type type"),
        ([1j], "/0", "complex"),
        ((x for x in (1,)), "", "generator"),
        (["\ud800"], "/0", "surrogate"),
        ({"a": {"\udc00": 1}}, "/a", "surrogate"),
        (datetime(2026, 1, 1), "", "time zone"),  # noqa: DTZ001 - the case itself
        (cycle(), "/1/again", "contains itself"),
        (nested(65), "/0" * 64, "deeper than 64"),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(value: object, pointer: str, says: str) -> None:
    with pytest.raises(ToolError) as refused:
        normalise(value)
    assert refused.value.code == "INVALID_OUTPUT"
    assert refused.value.details == {"pointer": pointer}
    assert says in refused.value.message
    assert pointer in refused.value.message
    assert not refused.value.recoverable


def test_sixty_four_levels_and_a_list_used_twice_are_accepted() -> None:
    shared = [1]
    assert normalise([shared, shared]) == [[1], [1]]
    assert normalise(nested(64)) == nested(64)


def test_a_few_lists_that_stand_for_millions_are_refused() -> None:
    value: list[object] = [1] * 10
    for _ in range(20):
        value = [value, value]
    with pytest.raises(ToolError, match="more than 1000000 values"):
        normalise(value)


def test_a_set_in_any_order_gives_one_text() -> None:
    words = [f"word{number}" for number in range(50)]
    backwards = words[::-1]
    assert normalise(set(words)) == normalise(set(backwards)) == sorted(words)


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**53) + 1, 2**53 - 1)
        | st.text()
        | st.binary()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.frozensets(st.integers(0, 99)),
        lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_what_is_normalised_passes_the_strict_parser_and_stays_as_it_is(value: object) -> None:
    plain = normalise(value)
    assert normalise(plain) == plain
    assert canonical(loads(canonical(plain))) == canonical(plain)
