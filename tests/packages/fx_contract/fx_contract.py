"""Tools that use each part of the contract: schemas, hooks, rules, determinism, errors and bounds."""

import os
import sys
import time
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

from toolhub_sdk import DeclaredError, Example, Field, Package, Rule, ToolContext, ToolError, tool

PACKAGE = Package(
    name="fx-contract",
    version="1.0.0",
    title="Fixture of the contract",
    description="For tests only.",
    license="MIT",
    author="ToolHub",
)
Whole = Annotated[int, Field(description="A whole number.")]
Text = Annotated[str, Field(description="A text.")]


class Inner(TypedDict):
    """An object within."""

    count: Annotated[int, Field(description="How many.", minimum=1)]


@tool(timeout_ms=10_000)
def fx_schema(
    text: Annotated[str, Field(description="A text.", min_length=2, max_length=5)] = "abc",
    code: Annotated[str, Field(description="Capitals.", pattern="^[A-Z]+$")] = "AB",
    number: Annotated[float, Field(description="A number.", minimum=0, maximum=10)] = 1.5,
    whole: Annotated[int, Field(description="A whole number.")] = 3,
    choice: Annotated[Literal["a", "b"], Field(description="One of two.")] = "a",
    yes: Annotated[bool, Field(description="Yes or no.")] = True,
    items: Annotated[list[int], Field(description="Numbers.", min_length=1, max_length=3)] = [1],  # noqa: B006
    inner: Annotated[Inner, Field(description="An object.")] = {"count": 1},  # noqa: B006
    at: Annotated[str, Field(description="A moment.", format="date-time")] = "2026-01-02T03:04:05Z",
    mail: Annotated[str, Field(description="An address.", format="email")] = "a@example.org",
    link: Annotated[str, Field(description="An address.", format="uri")] = "https://example.org/",
) -> Any:
    """Says what it was given, with its own defaults."""
    given = {"text": text, "code": code, "number": number, "whole": whole, "choice": choice, "yes": yes}
    return {**given, "items": items, "inner": inner, "at": at, "mail": mail, "link": link}


def in_order(low: int, high: int) -> dict[str, str] | None:
    """The rule that no schema can say."""
    if low > high:
        return {"low": f"low is {low} and may be at most high, {high}."}
    return None


@tool(validate=in_order, timeout_ms=10_000, examples=(Example({"low": 1}, 9),))
def fx_validate(ctx: ToolContext, low: Whole, high: Whole = 10) -> int:
    """Counts the whole numbers from low to high, and tells that it was called."""
    ctx.emit("called")
    return high - low


def broken_rule(low: int) -> object:
    """A hook with a mistake."""
    return 1 / (low - low)


@tool(validate=broken_rule, timeout_ms=10_000)
def fx_validate_broken(low: Whole) -> int:
    """Its hook fails by a mistake in its code."""
    return low


FOLDER = os.environ.get("TOOLHUB_FOLDER_POOL", "")
POOL = {"file": os.environ.get("POOL_FILE") or (FOLDER and f"{FOLDER}/said")}
if FOLDER:
    with Path(FOLDER, "opened").open("a", encoding="ascii") as opened:
        opened.write("opened\n")


def close_pool() -> None:
    """Says goodbye, where anybody can read it."""
    print("shutdown", file=sys.stderr, flush=True)
    if POOL["file"]:
        with Path(POOL["file"]).open("a", encoding="ascii") as out:
            out.write("shutdown\n")


@tool(shutdown=close_pool, timeout_ms=10_000)
def fx_pool() -> int:
    """Uses what the module opened."""
    return len(POOL)


def never_ends() -> None:
    """Is left behind after a second."""
    time.sleep(60)


@tool(shutdown=never_ends, timeout_ms=10_000)
def fx_pool_slow() -> str:
    """Its hook would never end."""
    return "done"


@tool(
    timeout_ms=10_000,
    validators=(
        Rule(
            "arguments.amount <= (persona == 'researcher' ? 1000 : 100)",
            "The amount is above what this persona may spend.",
            "/amount",
        ),
        Rule("arguments.amount < 500 || context.session_id != 'default'", "Large amounts need a session."),
        Rule("arguments.amount < 900 || context_data.approved_by != ''", "Name who approved it."),
    ),
)
def fx_spend(ctx: ToolContext, amount: Whole) -> int:
    """Spends an amount within the rules of the house."""
    ctx.emit("called")
    return amount


TABLES = {"a": ["orders", "people"], "b": ["parts"]}


def tables_of(ctx: ToolContext) -> dict[str, Any]:
    """Which tables there are depends on the database of the context."""
    base = (ctx.context_data or {}).get("db")
    if base == "broken":
        return {"type": "object", "properties": {"table": {"$ref": "https://example.org/schema"}}}
    if base == "none":
        raise ToolError("FX_NO_DATABASE", "There is no such database.")
    if base not in TABLES:
        return {"type": "object"}
    return {"type": "object", "properties": {"table": {"enum": TABLES[base]}}}


@tool(schema=tables_of, timeout_ms=10_000)
def fx_dyn(ctx: ToolContext, table: Text) -> str:
    """Reads a table of the database that the context names."""
    ctx.emit("called")
    return f"read {table}"


class Given(TypedDict):
    attempt: Annotated[int, Field(description="The attempt's number.")]


@tool(timeout_ms=10_000)
def fx_badout(ctx: ToolContext) -> Given:
    """Returns what its output schema forbids."""
    return {"attempt": f"number {ctx.attempt}"}  # type: ignore[typeddict-item]


@tool(timeout_ms=10_000, determinism="bounded")
def fx_bounded(ctx: ToolContext) -> Any:
    """Time and chance as the run fixes them."""
    return [ctx.clock.now(), ctx.random.random(), ctx.random.randint(1, 10**9)]


@tool(timeout_ms=10_000, determinism="non_deterministic")
def fx_stream(ctx: ToolContext, parts: Whole) -> int:
    """Sends so many parts, one after the other."""
    for number in range(1, parts + 1):
        ctx.emit({"part": number})
        time.sleep(0.05)
    return parts


@tool(
    timeout_ms=10_000,
    errors=(
        DeclaredError(
            "FX_FULL",
            recoverable=False,
            suggestions=("Empty it.",),
            description="The box is full.",
            type="resource",
            severity="high",
        ),
    ),
)
def fx_refuse(code: Text) -> str:
    """Fails with the code that it is given."""
    raise ToolError(code, "Refused on purpose.")


@tool(timeout_ms=10_000, side_effects="pure", determinism="non_deterministic")
def fx_writes(path: Text) -> str:
    """Is declared pure, and writes a file."""
    Path(path).write_text("written", encoding="ascii")
    return "written"


@tool(timeout_ms=10_000, determinism="non_deterministic")
def fx_dice() -> str:
    """Says something else each time."""
    return os.urandom(16).hex()


@tool(timeout_ms=10_000)
def fx_whole(ctx: ToolContext) -> str:
    """Is given more than any machine has, by a change to its manifest in the test."""
    ctx.emit("called")
    return "done"


@tool(timeout_ms=10_000)
def fx_context(ctx: ToolContext) -> Any:
    """Says what its context holds."""
    names = ("session_id", "loop_id", "agent_id", "context_data", "hints", "project")
    return {name: getattr(ctx, name) for name in names}


@tool(
    timeout_ms=10_000,
    determinism="non_deterministic",
    filesystem={"read": ["reports"], "write": []},
    errors=(DeclaredError("FILE_NOT_FOUND", suggestions=("Look at what there is.",)),),
)
def fx_reads(path: Text) -> Any:
    """Reads a file of the folder `reports`."""
    try:
        return {"content": Path(os.environ["TOOLHUB_FOLDER_REPORTS"], path).read_text(encoding="utf-8")}
    except FileNotFoundError:
        raise ToolError("FILE_NOT_FOUND", f"{path} was not found.") from None
