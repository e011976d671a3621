"""Tools that leave a line in a file each time that they are carried out: the world counts, not the hub."""

import os
import time
from pathlib import Path
from typing import Annotated

from toolhub_sdk import Field, Package, ToolContext, ToolError, tool

PACKAGE = Package(
    name="world",
    version="1.0.0",
    title="World",
    description="For fault tests only.",
    license="MIT",
    author="ToolHub",
)
Trace = Annotated[str, Field(description="The file to write a line to.")]
Seconds = Annotated[float, Field(description="How long to work.")]


def _act(ctx: ToolContext, file: str, seconds: float) -> int:
    ends = time.monotonic() + seconds
    with Path(file).open("a", encoding="ascii") as out:
        out.write(f"{ctx.run_id} {ctx.attempt}\n")
        out.flush()
        os.fsync(out.fileno())
    while time.monotonic() < ends:
        ctx.raise_if_cancelled()
        time.sleep(0.02)
    return ctx.attempt


@tool(side_effects="impure", idempotent=False, timeout_ms=30_000)
def world_once(ctx: ToolContext, file: Trace, seconds: Seconds = 0) -> int:
    """Acts on the world; must not be repeated."""
    return _act(ctx, file, seconds)


@tool(side_effects="impure", idempotent=True, timeout_ms=30_000)
def world_again(ctx: ToolContext, file: Trace, seconds: Seconds = 0) -> int:
    """Acts on the world; may be repeated."""
    return _act(ctx, file, seconds)


@tool(timeout_ms=30_000)
def world_think(ctx: ToolContext, file: Trace, seconds: Seconds = 0) -> int:
    """Works for a while; declared pure, and counted all the same."""
    return _act(ctx, file, seconds)


@tool(side_effects="impure", idempotent=False, timeout_ms=60_000)
def world_alive(ctx: ToolContext, file: Trace, seconds: Seconds = 30) -> int:
    """Acts on the world again and again, until somebody stops it; must not be repeated."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        ctx.raise_if_cancelled()
        _act(ctx, file, 0.1)
    return ctx.attempt


@tool(side_effects="impure", idempotent=False, timeout_ms=1000)
def world_quick(ctx: ToolContext, file: Trace) -> int:
    """Acts on the world, quickly enough for the web process; must not be repeated."""
    return _act(ctx, file, 0)


@tool(timeout_ms=1000)
def world_pure(file: Trace) -> str:
    """Returns its argument; pure, so that run and outcome are written at once."""
    return file


@tool(
    side_effects="impure",
    idempotent=True,
    timeout_ms=30_000,
    retry={"maxRetries": 3, "backoff": {"type": "fixed", "delay": 100}},
)
def world_flaky(ctx: ToolContext, file: Trace, seconds: Seconds = 0) -> int:
    """Acts on the world; its first attempt fails and is repeated."""
    _act(ctx, file, seconds)
    if ctx.attempt == 1:
        raise ToolError("FLAKY", "The first attempt fails.")
    return ctx.attempt


@tool(side_effects="impure", idempotent=False, timeout_ms=30_000, requires_approval=True)
def world_asked(ctx: ToolContext, file: Trace, seconds: Seconds = 0) -> int:
    """Acts on the world once a person has approved it; must not be repeated."""
    return _act(ctx, file, seconds)


@tool(side_effects="impure", idempotent=False, timeout_ms=30_000)
def world_undo(ctx: ToolContext, file: Trace) -> int:
    """Undoes what world_effect did; must not be repeated."""
    return _act(ctx, file, 0)


@tool(
    side_effects="impure",
    idempotent=False,
    timeout_ms=30_000,
    effects=(
        {
            "type": "state_change",
            "description": "Counts the calls of the session.",
            "state": "n",
            "change": "increment",
            "rollback": {"tool": "world_undo", "arguments": {"file": "arguments.file"}},
        },
        {
            "type": "memory",
            "description": "Keeps the result; where a call says so, this effect fails.",
            "scope": "short-term",
            "operation": "write",
            "key": "last",
            "expression": "arguments.fail ? result.missing : result",
        },
    ),
)
def world_effect(ctx: ToolContext, file: Trace, seconds: Seconds = 0, fail: bool = False) -> int:
    """Acts on the world and counts itself in the session's memory; must not be repeated."""
    return _act(ctx, file, seconds)
