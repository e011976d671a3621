"""JSON Schema from annotations, checked by hand-written schemas and by the jsonschema package."""

import dataclasses
import enum
import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict

import pytest
from jsonschema import Draft202012Validator

from toolhub_sdk import Field, ToolContext
from toolhub_sdk.schema import input_schema, output_schema, schema_of


class Size(enum.Enum):
    SMALL = "s"
    LARGE = "l"


class Address(TypedDict):
    street: Annotated[str, Field(description="Street and number.")]
    city: NotRequired[str]


@dataclasses.dataclass
class Order:
    item: str
    size: Size
    count: Annotated[int, Field(minimum=1)] = 1
    notes: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Tree:
    children: "list[Tree]"


ADDRESS = {
    "type": "object",
    "properties": {
        "street": {"type": "string", "description": "Street and number."},
        "city": {"type": "string"},
    },
    "required": ["street"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (list, {"type": "array"}),
        (dict, {"type": "object"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (list[list[str]], {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (dict[str, Any], {"type": "object"}),
        (set[int], {"type": "array", "uniqueItems": True, "items": {"type": "integer"}}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (
            tuple[int, str],
            {
                "type": "array",
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "items": False,
                "minItems": 2,
            },
        ),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal[1, 2], {"type": "integer", "enum": [1, 2]}),
        (Literal["a", 1, None], {"enum": ["a", 1, None]}),
        (Size, {"type": "string", "enum": ["s", "l"]}),
        (str | None, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),  # noqa: UP045 - the old form counts too
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (datetime, {"type": "string", "format": "date-time"}),
        (uuid.UUID, {"type": "string", "format": "uuid"}),
        (Address, ADDRESS),
        (list[Address], {"type": "array", "items": ADDRESS}),
        (
            Annotated[str, Field(description="D", min_length=1, max_length=9)],
            {"type": "string", "description": "D", "minLength": 1, "maxLength": 9},
        ),
        (
            Annotated[str, Field(pattern="^a", format="uri", examples=["a"])],
            {"type": "string", "pattern": "^a", "format": "uri", "examples": ["a"]},
        ),
        (Annotated[int, Field(minimum=0, maximum=10)], {"type": "integer", "minimum": 0, "maximum": 10}),
        (
            Annotated[list[str], Field(max_length=3)],
            {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        ),
        (
            Annotated[str | None, Field(max_length=3)],
            {"anyOf": [{"type": "string"}, {"type": "null"}], "maxLength": 3},
        ),
    ],
)
def test_a_type_has_its_schema(annotation: Any, schema: dict[str, Any]) -> None:
    assert schema_of(annotation) == schema
    Draft202012Validator.check_schema(schema)


def test_a_dataclass_needs_in_input_only_what_has_no_default() -> None:
    schema = schema_of(Order)
    assert schema == {
        "type": "object",
        "properties": {
            "item": {"type": "string"},
            "size": {"type": "string", "enum": ["s", "l"]},
            "count": {"type": "integer", "minimum": 1, "default": 1},
            "notes": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["item", "size"],
        "additionalProperties": False,
    }
    assert schema_of(Order, is_output=True)["required"] == ["item", "size", "count", "notes"]


def test_the_arguments_are_an_object_of_the_parameters_without_the_context() -> None:
    def greet(
        ctx: ToolContext,
        name: Annotated[str, Field(description="Whom to greet.")],
        times: int = 2,
        size: Size = Size.SMALL,
        title: str | None = None,
    ) -> list[str]:
        return [f"{title} {name} {size}"] * times

    assert input_schema(greet) == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Whom to greet."},
            "times": {"type": "integer", "default": 2},
            "size": {"type": "string", "enum": ["s", "l"], "default": "s"},
            "title": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        },
        "required": ["name"],
        "additionalProperties": False,
    }
    assert output_schema(greet) == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "array",
        "items": {"type": "string"},
    }


def test_a_function_without_parameters_takes_an_empty_object_only() -> None:
    def nothing() -> None:
        return None

    validator = Draft202012Validator(input_schema(nothing))
    assert validator.is_valid({})
    assert not validator.is_valid({"a": 1})
    assert not validator.is_valid([])


def without_annotation(a) -> None: ...  # type: ignore[no-untyped-def]  # noqa: ANN001


def with_any_number(*a: int) -> None: ...


def with_any_names(**a: int) -> None: ...


def by_position(a: int, /) -> None: ...


def with_integer_names(a: dict[int, str]) -> None: ...


def with_a_foreign_class(a: Callable[[], int]) -> None: ...


def with_a_type_in_itself(a: Tree) -> None: ...


@pytest.mark.parametrize(
    "function",
    [
        without_annotation,
        with_any_number,
        with_any_names,
        by_position,
        with_integer_names,
        with_a_foreign_class,
        with_a_type_in_itself,
    ],
)
def test_what_has_no_schema_is_refused_at_once(function: Callable[..., object]) -> None:
    with pytest.raises(TypeError):
        input_schema(function)
