"""Tools that take arguments of every kind, and do nothing with them."""

from typing import Annotated, Any, Literal, TypedDict

from toolhub_sdk import Example, Field, Package, tool

PACKAGE = Package(
    name="booking",
    version="1.0.0",
    title="Booking",
    description="For tests only.",
    license="MIT",
    author="ToolHub",
)


class Guest(TypedDict):
    name: Annotated[str, Field(description="The guest's name.", max_length=20)]
    email: Annotated[str, Field(description="The guest's address.", format="email")]


@tool(quick=True, timeout_ms=1000, examples=(Example({"room": "single", "nights": 2}, 2),))
def book_room(
    room: Annotated[Literal["single", "double", "twin", "suite"], Field(description="The kind of room.")],
    nights: Annotated[int, Field(description="How many nights.", minimum=1, maximum=30)],
    arrival: Annotated[str | None, Field(description="The first day.", format="date")] = None,
    wake_up: Annotated[str, Field(description="When to call.", format="date-time")] = "2026-01-01T08:00:00Z",
    price: Annotated[float, Field(description="Per night.", minimum=0)] = 80.0,
    breakfast: Annotated[bool, Field(description="Whether it is wanted.")] = False,
    notes: Annotated[str, Field(description="For the desk.", max_length=40)] = "",
    code: Annotated[
        str, Field(description="A voucher.", pattern="^[A-Z]{3}-[0-9]{2}$", examples=["ABC-12"])
    ] = "ABC-12",
    website: Annotated[str, Field(description="Of the guest.", format="uri")] = "https://example.com/",
    extras: Annotated[list[str], Field(description="What else.", max_length=3)] = [],  # noqa: B006
    tags: Annotated[set[str], Field(description="Each once.")] = frozenset(),  # type: ignore[assignment]
    guest: Annotated[Guest | None, Field(description="Who comes.")] = None,
) -> int:
    """Returns the number of nights."""
    return nights


@tool(quick=True, timeout_ms=1000)
def cancel_booking(number: Annotated[str, Field(description="The booking's number.")]) -> Any:
    """Returns the number."""
    return number


@tool(quick=True, timeout_ms=1000)
def secret_rooms(key: Annotated[str, Field(description="A key.")]) -> Any:
    """Returns the key. Nobody is given this tool."""
    return key
