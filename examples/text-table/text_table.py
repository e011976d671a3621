"""Tables as text, as an example of a package that needs another one (requirements.txt)."""

from collections.abc import Sequence
from typing import Annotated, Literal

from tabulate import tabulate

from toolhub_sdk import DeclaredError, Example, Field, Package, ToolError, tool

PACKAGE = Package(
    name="text-table",
    version="1.0.0",
    title="Text table",
    description="Draws tables in plain text and Markdown.",
    license="MIT",
    author="ToolHub",
    keywords=("table", "markdown"),
    requires="requirements.txt",
)

Cell = str | float | bool | None
_AS_MANY = "Give each row as many cells as there are headers."
_LAYOUTS = {"markdown": "github", "grid": "grid", "plain": "plain"}


@tool(
    category="data",
    tags=("text", "table"),
    timeout_ms=5000,
    examples=(
        Example(
            {
                "headers": ["town", "people"],
                "rows": [["Ulm", 126000], ["Bonn", 336000]],
                "layout": "markdown",
            },
            "| town   |   people |\n|--------|----------|\n| Ulm    |   126000 |\n| Bonn   |   336000 |",
        ),
    ),
    errors=(DeclaredError("ROW_LENGTH", suggestions=(_AS_MANY,)),),
)
def table_draw(
    headers: Annotated[list[str], Field(description="The columns' names.", min_length=1, max_length=50)],
    rows: Annotated[list[list[Cell]], Field(description="The rows, each a list of cells.", max_length=1000)],
    layout: Annotated[
        Literal["markdown", "grid", "plain"], Field(description="How it is drawn.")
    ] = "markdown",
) -> str:
    """Draws a table with headers from rows of cells and returns it as one text.

    Numbers are put to the right. A row that is longer or shorter than the headers is the error ROW_LENGTH.
    """
    _check(headers, rows)
    drawn: str = tabulate(rows, headers=headers, tablefmt=_LAYOUTS[layout])
    return drawn


def _check(headers: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    for number, row in enumerate(rows, 1):
        if len(row) != len(headers):
            raise ToolError("ROW_LENGTH", f"Row {number} has {len(row)} cells for {len(headers)} headers.")
