"""Defaults of schemas, where a caller left something out."""

from typing import Any

import pytest

from toolhub_sdk.defaults import defaults_filled

DEEP = {"type": "object", "properties": {"b": {"default": [1]}, "c": {"$ref": "#/x", "default": None}}}


@pytest.mark.parametrize(
    ("schema", "given", "filled"),
    [
        ({"properties": {"a": {"default": 1}}}, {}, {"a": 1}),
        ({"properties": {"a": {"default": 1}}}, {"a": None}, {"a": None}),
        ({"properties": {"a": DEEP}}, {}, {}),
        ({"properties": {"a": DEEP}}, {"a": {}}, {"a": {"b": [1], "c": None}}),
        ({"properties": {"a": DEEP}}, {"a": 5, "more": {"b": 2}}, {"a": 5, "more": {"b": 2}}),
        ({"properties": {"a": True, "b": False}}, {"a": 1}, {"a": 1}),
        ({"items": DEEP}, {"a": [{}]}, {"a": [{}]}),
        (True, {"a": 1}, {"a": 1}),
        ({"properties": {"a": {"default": 1}}}, ["a"], ["a"]),
    ],
)
def test_what_is_left_out_is_the_default(schema: Any, given: Any, filled: Any) -> None:
    assert defaults_filled(schema, given) == filled


def test_a_default_is_no_part_of_the_schema_that_a_tool_could_change() -> None:
    schema = {"properties": {"a": {"default": [1]}}}
    defaults_filled(schema, {})["a"].append(2)
    assert schema == {"properties": {"a": {"default": [1]}}}
