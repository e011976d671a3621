"""calculate, as seed 001 and the acceptance rows have it."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from catalogue.calculation import calculate
from core.json.canonical import canonical
from toolhub_sdk import ToolContext, ToolError, call, spec_of


def run(operation: str, num1: float, num2: float) -> Any:
    return call(calculate, {"operation": operation, "num1": num1, "num2": num2}, ToolContext())


@pytest.mark.parametrize(
    ("operation", "num1", "num2", "text"),
    [
        ("add", 2, 3, "5"),
        ("subtract", 2, 3, "-1"),
        ("multiply", -4, 2.5, "-10"),
        ("divide", 1, 8, "0.125"),
        ("divide", 6, 3, "2"),
        ("divide", 0, 5, "0"),
        ("add", 0.1, 0.2, "0.30000000000000004"),
        ("divide", 1, 3, "0.3333333333333333"),
        ("add", 2**53 - 2, 1, "9007199254740991"),
        ("add", 2**53 - 1, 1, "9007199254740992"),
        ("multiply", 2**53 - 1, 2**53 - 1, "8.112963841460666e+31"),
        ("subtract", -(2**53) + 1, 10, "-9007199254741000"),
        ("divide", 5e-324, 2, "0"),
    ],
)
def test_the_result_of_two_numbers(operation: str, num1: float, num2: float, text: str) -> None:
    assert canonical(run(operation, num1, num2)) == f'{{"result":{text}}}'.encode()


@pytest.mark.parametrize(("num1", "num2"), [(1, 0), (0, 0), (1.5, 0.0), (1, -0.0)])
def test_division_by_zero_is_the_callers_to_mend(num1: float, num2: float) -> None:
    with pytest.raises(ToolError) as refused:
        run("divide", num1, num2)
    assert (refused.value.code, refused.value.message) == ("DIVISION_BY_ZERO", "Division by zero.")
    assert refused.value.recoverable
    assert not refused.value.retryable
    assert refused.value.suggestions == ("Give a num2 other than 0.",)


@pytest.mark.parametrize(
    ("operation", "num1", "num2"),
    [
        ("add", 1.7e308, 1.7e308),
        ("multiply", -1e200, 1e200),
        ("divide", 1, 5e-324),
        ("subtract", -1.7e308, 1.7e308),
        ("multiply", 10**400, 1),
        ("divide", 10**400, 3),
    ],
)
def test_a_result_beyond_a_double_is_refused(operation: str, num1: float, num2: float) -> None:
    with pytest.raises(ToolError) as refused:
        run(operation, num1, num2)
    assert refused.value.code == "RESULT_OUT_OF_RANGE"
    assert refused.value.recoverable


@pytest.mark.parametrize(
    "arguments",
    [
        {"operation": "power", "num1": 1, "num2": 2},
        {"operation": "add", "num1": "1", "num2": 2},
        {"operation": "add", "num1": True, "num2": 2},
        {"operation": "add", "num1": 1},
        {"operation": "add", "num1": 1, "num2": 2, "num3": 3},
    ],
)
def test_its_schema_refuses_what_it_cannot_compute(arguments: dict[str, Any]) -> None:
    spec = spec_of(calculate)
    assert spec is not None
    assert not Draft202012Validator(spec.input_schema).is_valid(arguments)
