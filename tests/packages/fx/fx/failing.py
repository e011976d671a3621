"""Tools that fail, and are tried again."""

from typing import Annotated, TypedDict

from toolhub_sdk import DeclaredError, Example, Field, ToolContext, ToolError, tool


class Tried(TypedDict):
    attempt: Annotated[int, Field(description="The attempt that succeeded.")]


@tool(
    timeout_ms=10_000,
    retry={
        "maxRetries": 2,
        "backoff": {"type": "exponential", "baseDelay": 100, "maxDelay": 1000, "multiplier": 2},
    },
    errors=(DeclaredError("FX_FAILED", suggestions=("Ask for fewer failures.",)),),
    examples=(Example({"times": 0}, {"attempt": 1}),),
)
def fx_fail(
    ctx: ToolContext,
    times: Annotated[int, Field(description="How many attempts fail.")],
    code: Annotated[str, Field(description="The code they fail with.")] = "TIMEOUT",
    recoverable: Annotated[bool, Field(description="Whether a caller can mend it.")] = True,
) -> Tried:
    """Fails in as many attempts as it is asked to, with the code that it is asked for. Returns the attempt."""
    if ctx.attempt <= times:
        raise ToolError(code, "Failed on purpose.", recoverable=recoverable)
    return {"attempt": ctx.attempt}
