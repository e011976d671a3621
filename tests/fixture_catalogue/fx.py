"""Tools that are slow, wrong, deadly or leave a trace in the world."""

import os
import time
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, TypedDict

from toolhub_sdk import Cancelled, DeclaredError, Field, Package, ToolContext, ToolError, tool

PACKAGE = Package(
    name="fixture",
    version="1.0.0",
    title="Fixture",
    description="For tests only.",
    license="MIT",
    author="ToolHub",
)
Number = Annotated[float, Field(description="Seconds.")]
Text = Annotated[str, Field(description="A text.")]


class Counted(TypedDict):
    attempt: Annotated[int, Field(description="The attempt's number.")]


@tool(timeout_ms=1000)
def fx_echo(value: Annotated[Any, Field(description="Anything.")]) -> Any:
    """Returns any JSON value unchanged."""
    return value


@tool(timeout_ms=1000, field_kinds={"/note": "html", "/many/*": "path"})
def fx_kinds(
    path: Text = "",
    command: Text = "",
    sql: Text = "",
    url: Text = "",
    html: Text = "",
    text: Text = "",
    code: Text = "",
    note: Text = "",
    many: Annotated[list[str], Field(description="Texts.")] = [],  # noqa: B006
) -> Any:
    """Has a field of every kind, and returns what it got."""
    return [path, command, sql, url, html, text, code, note, many]


@tool(timeout_ms=1000)
def fx_sleep(seconds: Number) -> Any:
    """Sleeps without listening to anybody."""
    time.sleep(seconds)
    return "slept"


@tool(timeout_ms=20_000)
def fx_slow(ctx: ToolContext, fifo: Text, seconds: Number) -> Counted:
    """Says that it began, then works until the time is over or somebody cancels. Pure."""
    _tell(fifo, ctx)
    _work(ctx, seconds)
    return {"attempt": ctx.attempt}


@tool(side_effects="impure", idempotent=False, timeout_ms=20_000)
def fx_count(ctx: ToolContext, file: Text, fifo: Text = "", seconds: Number = 0) -> Counted:
    """Leaves a line in a file for each time that it is carried out. Impure."""
    with Path(file).open("a", encoding="ascii") as out:
        out.write(f"{ctx.run_id} {ctx.attempt}\n")
        out.flush()
        if Path(file).is_file():
            os.fsync(out.fileno())
    if fifo:
        _tell(fifo, ctx)
    _work(ctx, seconds)
    return {"attempt": ctx.attempt}


@tool(timeout_ms=20_000)
def fx_crash() -> Any:
    """Ends the process that carries it out."""
    os._exit(9)


@tool(timeout_ms=1000)
def fx_badout() -> Counted:
    """Returns what its output schema forbids."""
    return {"attempt": "three"}  # type: ignore[typeddict-item]


@tool(timeout_ms=1000, max_output_bytes=100)
def fx_big(size: Annotated[int, Field(description="Characters.")]) -> str:
    """Returns a text of that size."""
    return "x" * size


@tool(timeout_ms=1000)
def fx_boom() -> Any:
    """Fails by a mistake in its code."""
    raise RuntimeError("password=hunter2 in /srv/secret/path")


@tool(timeout_ms=1000)
def fx_exit() -> Any:
    """Tries to end the interpreter."""
    raise SystemExit(3)


@tool(timeout_ms=1000)
def fx_cancelled() -> Any:
    """Claims to be cancelled though nobody asked."""
    raise Cancelled("nobody asked")


@tool(timeout_ms=1000, errors=(DeclaredError("FX_REFUSED", suggestions=("Try again.",)),))
def fx_refuse(details: Annotated[Any, Field(description="What goes into the details.")]) -> Any:
    """Fails with a code of its own."""
    raise ToolError(
        "FX_REFUSED",
        "Refused on purpose.",
        recoverable=False,
        retryable=True,
        suggestions=("Try again.",),
        details={"given": details},
    )


@tool(timeout_ms=1000)
def fx_fail(
    ctx: ToolContext,
    file: Text,
    code: Text = "TIMEOUT",
    times: Annotated[int, Field(description="How many attempts fail.")] = 99,
    recoverable: bool = True,
    retryable: bool = False,
) -> Counted:
    """Leaves a line in a file, and fails in the first attempts."""
    with Path(file).open("a", encoding="ascii") as out:
        out.write(f"{ctx.run_id} {ctx.attempt}\n")
    if ctx.attempt <= times:
        raise ToolError(code, "Failed on purpose.", recoverable=recoverable, retryable=retryable)
    return {"attempt": ctx.attempt}


@tool(timeout_ms=1000, memory={"working": ("k", "list.*"), "short-term": ("k",), "long-term": ("k",)})
def fx_remember(
    ctx: ToolContext,
    write: Annotated[Any, Field(description="What is written: scope, key, value.")] = None,
    delete: Annotated[Any, Field(description="What is deleted: scope, key.")] = None,
    fail: bool = False,
) -> Any:
    """Changes memory, then tells what it remembers under `k`, by scope."""
    for scope, key, value in write or []:
        ctx.memory.write(key, value, scope)
    for scope, key in delete or []:
        ctx.memory.delete(key, scope)
    if fail:
        raise ToolError("FX_REFUSED", "Refused on purpose.")
    return {scope: ctx.memory.read("k", scope, "nothing") for scope in ("working", "short-term", "long-term")}


@tool(timeout_ms=1000)
def fx_degraded(ctx: ToolContext) -> Any:
    """What was preferred and is not so."""
    return list(ctx.degraded)


@tool(timeout_ms=1000)
def fx_baderror() -> Any:
    """Fails with details that are not JSON."""
    raise ToolError("FX_REFUSED", "Refused on purpose.", details={"what": object()})


@tool(timeout_ms=1000)
def fx_weekday(moment: Annotated[datetime, Field(description="A moment.")]) -> int:
    """The ISO weekday of a moment, 1 for Monday."""
    return moment.isoweekday()


@tool(timeout_ms=1000, capabilities=("file:read:tmp",))
def fx_capable() -> str:
    """Needs a capability."""
    return "done"


@tool(timeout_ms=1000)
def fx_context(ctx: ToolContext) -> Any:
    """Returns what its context holds."""
    members = ("tool", "version", "session_id", "agent_id", "project", "context_data", "hints", "attempt")
    return {name: getattr(ctx, name) for name in members}


@tool(timeout_ms=1000, determinism="bounded")
def fx_bounded(ctx: ToolContext) -> Any:
    """Time and chance as the run fixes them."""
    return [ctx.clock.now(), ctx.clock.now(), ctx.random.random()]


@tool(timeout_ms=1000, determinism="non_deterministic")
def fx_dice(file: Text) -> str:
    """Leaves a line in a file, and says something else each time."""
    with Path(file).open("a", encoding="ascii") as out:
        out.write("rolled\n")
    return os.urandom(16).hex()


@tool(timeout_ms=20_000)
def fx_stream(ctx: ToolContext, fifo: Text) -> str:
    """Sends a part, waits until somebody opens the pipe, and sends another."""
    ctx.emit("first")
    Path(fifo).read_bytes()
    ctx.emit("second")
    return "whole"


@tool(timeout_ms=1000)
def fx_wrap(value: Annotated[Any, Field(description="Anything.")]) -> Any:
    """What a later version of fx_echo might return."""
    return {"value": value, "length": len(value)}


def _tell(fifo: str, ctx: ToolContext) -> None:
    with Path(fifo).open("w", encoding="ascii") as out:
        out.write(f"{ctx.run_id} {ctx.attempt}\n")


def _work(ctx: ToolContext, seconds: float) -> None:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        ctx.raise_if_cancelled()
        time.sleep(0.02)
