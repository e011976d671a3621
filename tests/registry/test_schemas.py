"""Validation: JSON Pointers to what does not fit, formats asserted, hostile schemas answered in time."""

import time
from typing import Any

import jsonschema
import pytest

from core.errors import InvalidRequest
from registry.schemas import TOO_LARGE, pointer, problems_of, validator_build


@pytest.mark.parametrize(
    ("path", "expected"),
    # RFC 6901 §5, by its own examples
    [
        ([], ""),
        (["foo"], "/foo"),
        (["foo", 0], "/foo/0"),
        ([""], "/"),
        (["a/b"], "/a~1b"),
        (["m~n"], "/m~0n"),
    ],
)
def test_a_path_is_a_json_pointer(path: list[str | int], expected: str) -> None:
    assert pointer(path) == expected


SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer", "minimum": 0},
        "list": {"type": "array", "items": {"type": "string", "maxLength": 2}},
        "at": {"type": "string", "format": "date-time"},
        "mail": {"type": "string", "format": "email"},
        "site": {"type": "string", "format": "uri"},
    },
    "required": ["n"],
    "additionalProperties": False,
}
WRONG = [
    ({}, ""),
    ({"n": -1}, "/n"),
    ({"n": "1"}, "/n"),
    ({"n": 1.5}, "/n"),
    ({"n": 0, "list": ["a", "abc"]}, "/list/1"),
    ({"n": 0, "other": 1}, "/other"),
    ({"n": 0, "at": "yesterday"}, "/at"),
    ({"n": 0, "at": "2026-13-01T00:00:00Z"}, "/at"),
    ({"n": 0, "at": "2026-01-01 00:00"}, "/at"),
    ({"n": 0, "mail": "nobody"}, "/mail"),
    ({"n": 0, "mail": "a@"}, "/mail"),
    ({"n": 0, "mail": "@b.example"}, "/mail"),
    ({"n": 0, "site": "no uri"}, "/site"),
    ({"n": 0, "site": "/relative"}, "/site"),
    ({"n": 0, "site": "http://a b/"}, "/site"),
]


@pytest.mark.parametrize(("value", "at"), WRONG)
def test_what_does_not_fit_is_pointed_to(value: dict[str, Any], at: str) -> None:
    problems = problems_of(validator_build(SCHEMA), value)
    assert [each["pointer"] for each in problems] == [at]
    assert problems[0]["message"]


def test_what_fits_has_no_problems() -> None:
    fits = {"n": 3, "list": ["ab"], "at": "2026-01-01T00:00:00Z", "mail": "a@b.example", "site": "urn:a:b"}
    assert problems_of(validator_build(SCHEMA), fits) == []
    jsonschema.Draft202012Validator(SCHEMA).validate(fits)


def test_at_most_twenty_problems_are_told() -> None:
    schema = {"type": "object", "additionalProperties": {"type": "string"}}
    value = {f"k{n}": n for n in range(100)}
    assert len(problems_of(validator_build(schema), value)) == 20


def test_a_schema_is_read_by_the_draft_it_names() -> None:
    """`prefixItems` is a keyword of 2020-12 and none of draft-07."""
    schema = {"type": "object", "properties": {"a": {"prefixItems": [{"type": "integer"}]}}}
    assert problems_of(validator_build(schema), {"a": ["x"]})[0]["pointer"] == "/a/0"
    seven = {**schema, "$schema": "http://json-schema.org/draft-07/schema#"}
    assert problems_of(validator_build(seven), {"a": ["x"]}) == []


HOSTILE = {
    "backtracking": ({"pattern": "^(a+)+$"}, "a" * 50_000 + "!"),
    "backtracking by alternatives": ({"pattern": "^(a|a)*$"}, "a" * 50_000 + "!"),
    "nested stars": ({"pattern": "^((a*)*)*b$"}, "a" * 50_000),
    "many anyOf": ({"anyOf": [{"const": n} for n in range(2**14)]}, "x"),
}


@pytest.mark.parametrize(("schema", "value"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_schema_is_refused_or_answers_in_time(schema: dict[str, Any], value: Any) -> None:
    begun = time.monotonic()
    try:
        problems = problems_of(validator_build({"type": "object", "properties": {"v": schema}}), {"v": value})
    except InvalidRequest:
        problems = [{"pointer": "/v", "message": "refused when published"}]
    assert problems
    assert time.monotonic() - begun < 10  # a backtracking engine would need longer than the universe is old


def test_a_recursive_schema_ends() -> None:
    tree = {"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": False}
    value: dict[str, Any] = {}
    for _ in range(60):
        value = {"next": value}
    assert problems_of(validator_build(tree), value) == []
    assert problems_of(validator_build(tree), {"next": {"next": {"x": 1}}})[0]["pointer"] == "/next/next/x"


@pytest.mark.parametrize("pattern", [r"(?=a)b", r"(a)\1"])
def test_a_pattern_that_cannot_run_in_linear_time_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidRequest):
        validator_build({"type": "object", "properties": {"v": {"pattern": pattern}}})


LARGE = {"items": [1] * 50_000, "other": "x"}
ITEMS = {
    "type": "object",
    "properties": {"items": {"type": "array", "items": {"type": "string"}}, "other": {"type": "string"}},
}


def test_a_large_value_is_refused_with_the_member_that_is_wrong() -> None:
    (problem,) = problems_of(validator_build(ITEMS), LARGE)
    assert problem == {"pointer": "/items", "message": TOO_LARGE}


def test_two_wrong_members_of_a_large_value_are_not_told_apart() -> None:
    (problem,) = problems_of(validator_build(ITEMS), {**LARGE, "other": 5})
    assert problem["pointer"] == ""


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        # each would make millions of errors if it were explained in full
        ({"items": {"anyOf": [{"const": number} for number in range(1000)]}}, [-1] * 20_000),
        ({"items": {"enum": list(range(10_000))}}, [-1] * 20_000),
        ({"anyOf": [{"items": {"const": number}} for number in range(1000)]}, [-1] * 20_000),
    ],
)
def test_many_branches_over_many_values_are_answered(schema: dict[str, Any], value: Any) -> None:
    assert problems_of(validator_build(schema), value) == [{"pointer": "", "message": TOO_LARGE}]


def test_a_large_value_that_fits_fits() -> None:
    assert problems_of(validator_build(ITEMS), {"items": ["a"] * 50_000}) == []
