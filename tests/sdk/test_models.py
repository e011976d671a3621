"""Tools whose parameters and results are models of pydantic."""

from datetime import UTC, datetime
from typing import Annotated, Any

import pydantic
import pytest
from jsonschema import Draft202012Validator

from toolhub_sdk import Field, ToolContext, ToolError, call, normalise, tool
from toolhub_sdk.checks.schemas import schema_problems
from toolhub_sdk.schema import schema_of
from toolhub_sdk.tool import spec_of


class Place(pydantic.BaseModel):
    town: str = pydantic.Field(description="The town.", min_length=1)
    since: datetime | None = None


class Trip(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")

    start: Place
    stops: list[Place] = []
    kinds: set[str] = set()

    @pydantic.field_validator("stops")
    @classmethod
    def few(cls, stops: list[Place]) -> list[Place]:
        if len(stops) > 2:
            raise ValueError("At most two stops.")
        return stops


class Tree(pydantic.BaseModel):
    children: "list[Tree]" = []


@tool()
def trip_turn(trip: Annotated[Trip, Field(description="The trip.")], last: Place | None = None) -> Trip:
    """Turns a trip round."""
    first = trip.stops[-1] if trip.stops else trip.start
    return Trip(start=last or first, stops=[trip.start], kinds=trip.kinds)


def run(arguments: dict[str, Any]) -> Any:
    return call(trip_turn, arguments, ToolContext())


def test_a_model_is_a_schema_that_stands_by_itself() -> None:
    spec = spec_of(trip_turn)
    assert spec is not None
    trip = spec.input_schema["properties"]["trip"]
    assert "$ref" not in str(spec.input_schema)
    assert trip["description"] == "The trip."
    assert trip["properties"]["start"]["properties"]["town"]["minLength"] == 1
    assert trip["required"] == ["start"]
    Draft202012Validator.check_schema(spec.input_schema)
    assert schema_problems(spec.input_schema) == []


def test_a_tool_gets_models_and_gives_them() -> None:
    moment = "2026-01-02T03:04:05Z"
    given = {"start": {"town": "Ulm", "since": moment}, "stops": [{"town": "Bonn"}], "kinds": ["b", "a"]}
    result = run({"trip": given})
    assert result == {
        "start": {"town": "Bonn", "since": None},
        "stops": [{"town": "Ulm", "since": moment}],
        "kinds": ["a", "b"],
    }
    spec = spec_of(trip_turn)
    assert spec is not None
    assert Draft202012Validator(spec.output_schema).is_valid(result)
    assert run({"trip": {"start": {"town": "Ulm"}}, "last": {"town": "Rom"}})["start"]["town"] == "Rom"


def test_what_a_models_own_validator_refuses_is_an_invalid_argument() -> None:
    with pytest.raises(ToolError) as caught:
        run({"trip": {"start": {"town": "Ulm"}, "stops": [{"town": "a"}] * 3}})
    assert caught.value.code == "INVALID_ARGUMENTS"
    assert "At most two stops" in caught.value.message


def test_a_model_that_contains_itself_has_no_schema() -> None:
    with pytest.raises(TypeError, match="Tree contains itself"):
        schema_of(Tree)


def test_a_model_is_written_as_json() -> None:
    place = Place(town="Ulm", since=datetime(2026, 1, 2, tzinfo=UTC))
    assert normalise([place]) == [{"town": "Ulm", "since": "2026-01-02T00:00:00Z"}]
    tree = Tree()
    tree.children.append(tree)
    with pytest.raises(ToolError) as caught:
        normalise(tree)
    assert caught.value.code == "INVALID_OUTPUT"
