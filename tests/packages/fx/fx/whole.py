"""One tool with all members of a contract that the others leave out, and one that a person approves."""

import os
from typing import Annotated, Any

from toolhub_sdk import Example, Field, Rule, ToolContext, tool

MIB = 1 << 20
LINEAR = {"type": "linear", "baseDelay": 100, "increment": 50, "maxDelay": 200}


@tool(
    side_effects="impure",
    idempotent=False,
    determinism="bounded",
    timeout_ms=10_000,
    max_output_bytes=10_000,
    max_memory_bytes=256 * MIB,
    max_disk_bytes=16 * MIB,
    max_cpu_ms=5_000,
    max_concurrency=2,
    tags=("whole",),
    isolation="paranoid",
    environment={"TZ": "UTC", "FX_GREETING": "hello"},
    resource_requirements={"memoryBytes": MIB, "diskBytes": MIB, "cpuPercent": 10},
    recovery={"type": "fallback", "fallbackTool": "fx_dep", "maxAttempts": 2},
    cache_seconds=60,
    documentation="docs/every.md",
    sanitise=True,
    content_checks="block",
    field_kinds={"/note": "text"},
    validators=(Rule("arguments.note != 'no'", "The note may not be no.", "/note"),),
    preconditions=(
        {
            "type": "state",
            "description": "The switch is on.",
            "state": "fx.switch",
            "expectedValue": True,
            "critical": False,
        },
        {
            "type": "custom",
            "description": "The persona can sign.",
            "check": "persona:signing",
            "critical": False,
        },
    ),
    effects=(
        {
            "type": "state_change",
            "description": "The call is counted.",
            "state": "fx.calls",
            "change": "increment",
            "rollback": {"tool": "fx_dep", "arguments": {"word": "'taken back'"}},
        },
        {
            "type": "notification",
            "description": "The session hears of it.",
            "event": "fx:every",
            "payload": {"by": "fx_every"},
        },
    ),
    retry={
        "maxRetries": 1,
        "backoff": {"type": "jittered", "base": LINEAR, "jitter": 0.1},
        "retryableErrors": ["TIMEOUT"],
        "nonRetryableErrors": ["LOCK"],
        "retryIf": "attempt < 2",
    },
    examples=(Example({"note": "a"}, description="The shortest note."),),
)
def fx_every(ctx: ToolContext, note: Annotated[str, Field(description="A note.")]) -> dict[str, Any]:
    """Returns a note with its settings and what is preferred and is not so. It counts its calls in memory."""
    variables = {name: os.environ[name] for name in ("TZ", "FX_GREETING")}
    return {"note": note, "unit": ctx.config["unit"], "missing": list(ctx.degraded), **variables}


@tool(
    timeout_ms=10_000,
    requires_approval=True,
    recovery={"type": "manual", "escalation": {"after": "10m", "to": "duty"}},
    retry={"maxRetries": 1, "backoff": {"type": "fixed", "delay": 100}},
    examples=(Example({"word": "a"}, "a"),),
)
def fx_asks(word: Annotated[str, Field(description="Any word.")]) -> str:
    """Returns the word that it gets, after a person has approved the call."""
    return word
