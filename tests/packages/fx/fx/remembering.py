"""Tools that read and write memory themselves."""

from typing import Annotated, Any

from toolhub_sdk import Example, Field, ToolContext, tool
from toolhub_sdk.memory import Scope

KEYS = ("note", "note.*")
MEMORY: dict[Scope, tuple[str, ...]] = {"working": KEYS, "short-term": KEYS, "long-term": KEYS}
ScopeName = Annotated[Scope, Field(description="Where it is kept.")]


@tool(
    side_effects="impure",
    determinism="non_deterministic",
    timeout_ms=10_000,
    memory=MEMORY,
    examples=(Example({"value": 1}, 1),),
)
def fx_mem_write(
    ctx: ToolContext,
    value: Annotated[Any, Field(description="What is remembered.")],
    scope: ScopeName = "short-term",
) -> Any:
    """Remembers a value under the key note, and returns it as it reads it back. Any value before is lost."""
    ctx.memory.write("note", value, scope)
    return ctx.memory.read("note", scope)


@tool(
    determinism="non_deterministic",
    timeout_ms=10_000,
    memory=MEMORY,
    examples=(Example({}, None),),
)
def fx_mem_read(ctx: ToolContext, scope: ScopeName = "short-term") -> Any:
    """Returns what is remembered under the key note, null where there is nothing. It changes nothing."""
    return ctx.memory.read("note", scope)
