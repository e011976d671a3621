"""What a runner gets, and what a runner is."""

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol
from uuid import UUID

from django.conf import settings

from execution.models import Run
from registry.config.selectors import NOTHING, Settings
from registry.models import ToolVersion
from security.redaction import Redactor


def dropped(partial: Any) -> None:
    """Where nobody reads parts, they go nowhere."""


def untold(kind: str, data: Mapping[str, Any]) -> None:
    """Where nobody hears a tool while it works, its outcome tells."""


class Log(Protocol):
    """Takes what a tool logs; see execution/runners/logged.py."""

    def add(self, message: Any, fields: Any, level: Any) -> None:
        """An entry, in whatever form the tool says it."""

    def look(self) -> None:
        """Called again and again while it works."""


class Unlogged:
    """Keeps nothing."""

    def add(self, message: Any, fields: Any, level: Any) -> None:
        """Nobody reads it."""

    def look(self) -> None:
        """There is nothing to tell."""


@dataclass
class Call:
    """One attempt's work as a value. `timeout_ms` and `max_output_bytes` bound the tool, not its start.

    `cancelled` is set when the caller cancels or the lease is lost. `inline` is true in a web
    process, where the work is done in the caller's own thread.
    """

    run_id: UUID
    tool: str
    runner: str
    version: ToolVersion
    arguments: Mapping[str, Any]
    request: Mapping[str, Any]
    attempt: int
    timeout_ms: int
    max_output_bytes: int
    inline: bool
    cancelled: threading.Event = field(default_factory=threading.Event)
    # Whether it was the lease that was lost: then this attempt has no outcome to tell.
    lost: bool = False
    # What the tool gets of its package's settings; see execution/runners/equip.py.
    settings: Settings = NOTHING
    # Takes secrets out of what the tool says; None where there is nothing to be taken out.
    redactor: Redactor | None = None
    # Takes a part of the result while the tool works; see execution/engine/partials.py.
    emit: Callable[[Any], None] = dropped
    # Takes events while it works: what it prints and logs.
    tell: Callable[[str, Mapping[str, Any]], None] = untold
    log: Log = field(default_factory=Unlogged)
    persona_id: int = 0
    # Which hook of the tool is to be called in place of the tool.
    hook: str = ""
    # The start that the run's row has; where there is no row yet, the runner's own is recorded.
    moment: datetime | None = None
    # `{found, named}` of memory, where the contract names keys.
    memory: Mapping[str, Any] | None = None
    # Whether the runner looks for the functions of the contract: before the call, or instead of it.
    look: Literal["", "first", "only"] = ""
    # What the hash order of a repeatable tool is made from (toolhub_sdk/repeatable.py).
    seed: int = 0
    # Where the tool is to be carried out once for each of these instead; the result says whether it repeats
    # itself (repeating.py). Only for runtimes that can.
    seeds: Sequence[int] = ()
    # Whether a process that waits for calls may not serve this one.
    fresh: bool = False
    # The descriptions of preconditions that failed without being critical.
    degraded: Sequence[str] = ()
    # Monotonic seconds at which the start was ordered, and at which the time of a tool that has begun is up.
    ordered: float = field(default_factory=time.monotonic)
    deadline: float = math.inf

    def begin(self) -> None:
        """The tool begins: from now on its time runs."""
        self.deadline = time.monotonic() + self.timeout_ms / 1000

    def start_left(self) -> float:
        """Seconds until the start has to be over; 0 or less when they are gone."""
        ends: float = self.ordered + settings.START_MAX_S
        return ends - time.monotonic()

    def seconds_left(self) -> float:
        """Seconds of a tool that has begun; 0 or less when they are gone."""
        return self.deadline - time.monotonic()

    def stop(self, *, lost: bool) -> None:
        """Tells the tool to stop, because its lease is lost or its run was cancelled."""
        self.lost = self.lost or lost
        self.cancelled.set()


def unsaid(call: Call, said: Any) -> Any:
    """A text or JSON value without what must not be told: for what is cut before the outcome is searched."""
    return said if call.redactor is None else call.redactor.value(said)


def call_of(run: Run, *, inline: bool, attempt: int) -> Call:
    """The call for a run's attempt."""
    return Call(
        run_id=run.pk,
        tool=run.tool,
        runner=run.tool_version.runner,
        version=run.tool_version,
        arguments=run.arguments,
        request=run.request,
        attempt=attempt,
        timeout_ms=run.timeout_ms,
        max_output_bytes=run.max_output_bytes,
        inline=inline,
        persona_id=run.persona_id,
        hook=run.request.get("hook", ""),
    )
