"""Arithmetic."""

import math
from typing import Annotated, Literal, TypedDict

from toolhub_sdk import DeclaredError, Example, Field, Package, ToolError, tool

PACKAGE = Package(
    name="toolhub-calculation",
    version="1.0.0",
    title="Calculation",
    description="Basic arithmetic on two numbers.",
    license="MIT",
    author="ToolHub",
    keywords=("arithmetic", "calculator"),
)

_SAFE_INTEGER = 2**53 - 1
_DIVISOR = "Give a num2 other than 0."
_SMALLER = "Use numbers whose result is at most about 1.8e308 in size."


class Calculated(TypedDict):
    result: Annotated[float, Field(description="The result of the calculation.")]


@tool(
    quick=True,
    category="data",
    tags=("arithmetic", "math"),
    timeout_ms=1000,
    examples=(
        Example({"operation": "add", "num1": 2, "num2": 3}, {"result": 5}),
        Example({"operation": "divide", "num1": 1, "num2": 8}, {"result": 0.125}),
    ),
    errors=(
        DeclaredError("DIVISION_BY_ZERO", suggestions=(_DIVISOR,)),
        DeclaredError("RESULT_OUT_OF_RANGE", suggestions=(_SMALLER,)),
    ),
)
def calculate(
    operation: Annotated[
        Literal["add", "subtract", "multiply", "divide"], Field(description="The operation to perform.")
    ],
    num1: Annotated[float, Field(description="The first number; the dividend in a division.")],
    num2: Annotated[float, Field(description="The second number; the divisor in a division.")],
) -> Calculated:
    """Adds, subtracts, multiplies or divides two numbers and returns `{"result": number}`.

    Computes num1 operation num2, so subtract is num1 - num2 and divide is num1 / num2. Integers are exact up
    to 9007199254740991; beyond that, and with fractions, results are rounded to a 64-bit float, so that
    0.1 + 0.2 is 0.30000000000000004. Dividing by zero is the error DIVISION_BY_ZERO, a result too great for a
    float RESULT_OUT_OF_RANGE.
    """
    if operation == "divide" and num2 == 0:
        raise ToolError("DIVISION_BY_ZERO", "Division by zero.", suggestions=(_DIVISOR,))
    try:
        result = _computed(operation, num1, num2)
    except OverflowError:
        result = math.inf
    if not math.isfinite(result):
        raise ToolError(
            "RESULT_OUT_OF_RANGE",
            "The result is beyond the range of a 64-bit float.",
            suggestions=(_SMALLER,),
        )
    return {"result": result}


def _computed(operation: str, num1: float, num2: float) -> float:
    if operation == "add":
        result = num1 + num2
    elif operation == "subtract":
        result = num1 - num2
    elif operation == "multiply":
        result = num1 * num2
    else:
        result = num1 / num2
    return result if -_SAFE_INTEGER <= result <= _SAFE_INTEGER else float(result)
