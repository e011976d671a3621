"""Tools that something has to hold for, and what a tool sees of its call."""

from typing import Annotated, Any

from toolhub_sdk import Example, Field, ToolContext, tool

PRECONDITIONS = (
    {
        "type": "resource",
        "description": "The printer works.",
        "resource": "fx.res",
        "availability": "preferred",
    },
    {
        "type": "state",
        "description": "Calls are left.",
        "state": "api.rateLimit.remaining",
        "expression": "value > 0",
    },
    {"type": "permission", "description": "It may drive a browser.", "permission": "browser:automate"},
    {"type": "dependency", "description": "fx_dep has run.", "tool": "fx_dep", "status": "completed"},
    {"type": "custom", "description": "Two is asked for at most.", "expression": "arguments.count <= 2"},
)


@tool(timeout_ms=10_000, preconditions=PRECONDITIONS, examples=(Example({"count": 1}, []),))
def fx_pre(ctx: ToolContext, count: Annotated[int, Field(description="A number, 2 at most.")]) -> list[str]:
    """Returns what is preferred and is not so, by its descriptions. It changes nothing and takes a number."""
    return list(ctx.degraded)


@tool(timeout_ms=10_000, examples=(Example({"word": "a"}, "a"),))
def fx_dep(word: Annotated[str, Field(description="Any word.")]) -> str:
    """Returns the word that it gets. Other tools want it to have run before them in the same session."""
    return word


@tool(timeout_ms=10_000, determinism="non_deterministic", examples=(Example({}),))
def fx_ctx(ctx: ToolContext) -> dict[str, Any]:
    """Returns what it is told of its call: ids, project, context data and hints. It changes nothing."""
    names = ("session_id", "task_id", "loop_id", "agent_id", "user_id", "project", "context_data", "hints")
    return {name: getattr(ctx, name) for name in names}
