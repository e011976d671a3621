"""A schema as a table."""

from typing import Any

import pytest

from registry.parameters import Parameter, gives_words, parameters_of


def table(properties: dict[str, object], **more: object) -> list[Parameter]:
    return parameters_of({"type": "object", "properties": properties, **more})


def test_required_default_constraints_and_description_are_read() -> None:
    (row,) = table(
        {"size": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3, "description": "How many."}},
        required=["size"],
    )
    assert row == Parameter("size", "integer", True, "at least 1, at most 9", "How many.", True, 3)


def test_a_default_of_null_is_a_default() -> None:
    (row,) = table({"a": {"type": ["string", "null"], "default": None}})
    assert (row.type, row.has_default, row.default) == ("string or null", True, None)


def test_types_are_said_in_words() -> None:
    rows = table(
        {
            "a": {"type": "array", "items": {"type": "string"}},
            "b": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "c": {},
            "d": {"enum": ["x", 1]},
        }
    )
    assert [(row.type, row.constraints) for row in rows] == [
        ("array of string", ""),
        ("integer or null", ""),
        ("any", ""),
        ("any", "one of x, 1"),
    ]


def test_nested_members_have_paths_and_local_references_are_followed() -> None:
    rows = table(
        {"list": {"type": "array", "items": {"$ref": "#/$defs/item"}}, "one": {"$ref": "#/$defs/item"}},
        **{"$defs": {"item": {"type": "object", "properties": {"x": {"type": "number"}}}}},
    )
    assert [row.path for row in rows] == ["list", "list[].x", "one", "one.x"]


def test_a_schema_that_refers_to_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    rows = table({"start": {"$ref": "#/$defs/node"}}, **{"$defs": {"node": node}})
    assert [row.path for row in rows] == ["start", "start.next", "start.next.next", "start.next.next.next"]


def test_a_very_wide_schema_is_cut() -> None:
    assert len(table({f"p{n}": {"type": "string"} for n in range(500)})) == 100


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (None, "It does not say what it gives."),
        ({"type": "object"}, "An object, with members that it does not declare."),
        (
            {"type": "string", "maxLength": 80, "description": "The greeting."},
            "One value: string, at most 80 characters. The greeting.",
        ),
        ({"type": "array", "items": {"type": "number"}}, "One value: array of number."),
    ],
)
def test_a_result_without_members_is_told_in_a_sentence(schema: dict[str, Any] | None, said: str) -> None:
    assert gives_words(schema) == said


def test_no_schema_has_no_rows() -> None:
    assert parameters_of(None) == []
