"""Conversions between units, as an example of a package in plain Python."""

from decimal import Decimal
from enum import Enum
from typing import Annotated, Literal, TypedDict

from toolhub_sdk import DeclaredError, Example, Field, Package, ToolError, tool

PACKAGE = Package(
    name="unit-conversion",
    version="1.0.0",
    title="Unit conversion",
    description="Converts lengths and temperatures.",
    license="MIT",
    author="ToolHub",
    keywords=("units", "length", "temperature"),
)


class LengthUnit(Enum):
    MILLIMETRE = "mm"
    CENTIMETRE = "cm"
    METRE = "m"
    KILOMETRE = "km"
    INCH = "in"
    FOOT = "ft"
    MILE = "mi"


# In metres; exact by the international yard and pound agreement of 1959.
_METRES = {
    LengthUnit.MILLIMETRE: Decimal("0.001"),
    LengthUnit.CENTIMETRE: Decimal("0.01"),
    LengthUnit.METRE: Decimal(1),
    LengthUnit.KILOMETRE: Decimal(1000),
    LengthUnit.INCH: Decimal("0.0254"),
    LengthUnit.FOOT: Decimal("0.3048"),
    LengthUnit.MILE: Decimal("1609.344"),
}
_ABSOLUTE_ZERO = Decimal("-273.15")
_COLDER = "Send a temperature of at least -273.15 °C, -459.67 °F or 0 K."

Scale = Literal["C", "F", "K"]


class Converted(TypedDict):
    value: Annotated[float, Field(description="The value in the unit that was asked for.")]
    unit: Annotated[str, Field(description="That unit.")]


@tool(
    category="data",
    tags=("units",),
    timeout_ms=2000,
    examples=(
        Example({"value": 1, "source": "mi", "target": "km"}, {"value": 1.609344, "unit": "km"}),
        Example({"value": 12, "source": "in", "target": "ft"}, {"value": 1, "unit": "ft"}),
    ),
    errors=(DeclaredError("LENGTH_NEGATIVE", suggestions=("Send a length of at least 0.",)),),
)
def length_convert(
    value: Annotated[float, Field(description="How many of the source unit.", maximum=1e15)],
    source: Annotated[LengthUnit, Field(description="The unit of the value.")],
    target: Annotated[LengthUnit, Field(description="The unit to convert to.")],
) -> Converted:
    """Converts a length between metric and imperial units and returns the value with its unit.

    Factors are exact; the result is rounded to 15 digits. A negative length is the error LENGTH_NEGATIVE.
    """
    if value < 0:
        raise ToolError("LENGTH_NEGATIVE", "A length is not negative.")
    made = Decimal(repr(value)) * _METRES[source] / _METRES[target]
    return {"value": float(round(made, 15)), "unit": target.value}


@tool(
    category="data",
    tags=("units",),
    timeout_ms=2000,
    examples=(
        Example({"value": 100, "source": "C", "target": "F"}, {"value": 212, "unit": "F"}),
        Example({"value": 0, "source": "K", "target": "C"}, {"value": -273.15, "unit": "C"}),
    ),
    errors=(DeclaredError("BELOW_ABSOLUTE_ZERO", suggestions=(_COLDER,)),),
)
def temperature_convert(
    value: Annotated[float, Field(description="The temperature.", maximum=1e15)],
    source: Annotated[Scale, Field(description="The scale of the value: Celsius, Fahrenheit or kelvin.")],
    target: Annotated[Scale, Field(description="The scale to convert to.")],
) -> Converted:
    """Converts a temperature between Celsius, Fahrenheit and kelvin and returns the value with its scale.

    The result is rounded to 10 digits after the point. What is colder than can be is the error
    BELOW_ABSOLUTE_ZERO.
    """
    given = Decimal(repr(value))
    celsius = {"C": given, "F": (given - 32) * 5 / 9, "K": given + _ABSOLUTE_ZERO}[source]
    if round(celsius, 10) < _ABSOLUTE_ZERO:
        raise ToolError("BELOW_ABSOLUTE_ZERO", "Nothing is as cold as that.", suggestions=(_COLDER,))
    made = {"C": celsius, "F": celsius * 9 / 5 + 32, "K": celsius - _ABSOLUTE_ZERO}[target]
    return {"value": float(round(made, 10)), "unit": target}
