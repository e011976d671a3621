"""Conditions in CEL: what they mean, and that none can stall or end the process."""

import time
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from core.cel import ConditionFailed, cel_check, cel_holds, cel_value
from core.errors import InvalidRequest

# From the language's specification (cel-spec, language definition), worked out by hand.
TRUE = [
    "1 < 2 && !(2 < 1)",
    "arguments.path.startsWith('/data')",
    "arguments.n in [1, 2, 3]",
    "size(arguments.list) == 3",
    "arguments.list.all(x, x > 0)",
    "has(arguments.path) && !has(arguments.none)",
    "arguments.path.matches('^/data/[a-z]+$')",
    "arguments.n > 1 ? true : false",
    "'(' + ')' == '()'",
    "size(arguments.greeting) == 3 && arguments.greeting.size() == 3",
    "size(bytes(arguments.greeting)) == 9 && size(b'\\xc3\\xa9') == 2",
    "[arguments.greeting].all(x, x . size ( ) == 3)",
    "size({'size': size('\u00e9')}) == 1 && {'size': 2}.size == 2",
    "'size(\u00e9)'.size() == 7 && r'size(\\' == 'size(\\\\'",
    'size("""a"size(""") == 7 && size(\'a\' // size(\n) == 1',
]
VALUES = {
    "arguments": {
        "path": "/data/reports",
        "n": 2,
        "list": [1, 2, 3],
        "half": 0.5,
        "greeting": "\u00e9\u20ac\U0001f600",
    }
}


@pytest.mark.parametrize("expression", TRUE)
def test_it_means_what_the_specification_says(expression: str) -> None:
    cel_check(expression)
    assert cel_holds(expression, VALUES) is True
    assert cel_holds(f"!({expression})", VALUES) is False


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "   ",
        "a +",
        "import os",
        "x" * 2001,
        "(" * 40 + "1" + ")" * 40,
        "arguments.list.map(x, arguments.list.map(y, y))",
        "arguments.list.exists(x, arguments.list.filter(y, y > x).size() > 0)",
    ],
)
def test_what_is_none_or_goes_beyond_the_limits_is_refused(expression: str) -> None:
    with pytest.raises(InvalidRequest):
        cel_check(expression)


def test_macros_one_after_the_other_and_in_texts_are_no_nesting() -> None:
    cel_check("arguments.list.map(x, x).size() > 0 && arguments.list.exists(x, x > 1)")
    cel_check("arguments.list.all(x, x != '.map(')")


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("expression", "arguments"),
    [
        ("1 / 0 == 1", {}),
        ("arguments.none == 1", {}),
        ("arguments.n", {"n": 1}),
        ("arguments.n + 'a' == 'b'", {"n": 1}),
        ("true", {"list": list(range(501))}),
        ("true", {"text": "x" * 70_000}),
        ("true", {"deep": nested(63)}),
        ("unknown(1)", {}),
    ],
)
def test_what_cannot_be_told_fails(expression: str, arguments: Any) -> None:
    with pytest.raises(ConditionFailed) as failed:
        cel_holds(expression, {"arguments": arguments})
    assert "xxx" not in str(failed.value)


def test_the_worst_that_the_limits_allow_takes_no_time_to_speak_of() -> None:
    expression = "arguments.list.map(x, " + " + ".join(["x"] * 300) + ").size() > 0"
    cel_check(expression)
    begun = time.monotonic()
    cel_holds(expression, {"arguments": {"list": list(range(500))}})
    # Not a measure of speed: a stall would take minutes.
    assert time.monotonic() - begun < 20


TEXTS = (
    "",
    "a",
    "\u00e9",
    "e\u0301",
    "\u20ac",
    "\U0001f600",
    "\U0001f468\u200d\U0001f469",
    "\u0000",
    "\u202e",
)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("form", ["size(t)", "t.size()"])
def test_a_text_is_as_long_as_schemas_say(text: str, form: str) -> None:
    length = int(cel_value(form, {"t": text}))
    fits = [Draft202012Validator({"maxLength": most}).is_valid(text) for most in (length - 1, length)]
    assert fits == [False, True] if text else length == 0
    assert cel_value(form, {"t": [text] * 3}) == 3


@pytest.mark.parametrize("expression", ["size(t)", "t.size()", "size(t, t)", "size()"])
def test_what_has_no_size_fails_as_a_condition(expression: str) -> None:
    for value in (1, None, True):
        with pytest.raises(ConditionFailed):
            cel_value(expression, {"t": value})


def test_a_fault_is_told_at_its_own_place() -> None:
    """At the place where a function that is not replaced has it."""
    told = []
    for name in ("size", "abcd"):
        with pytest.raises(InvalidRequest) as caught:
            cel_check(f"{name}('a') + + ) 1")
        told.append(caught.value.message)
    assert "at character" in told[0]
    assert told[0] == told[1]
