"""What a run tells its tool, and what the tool tells the run."""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any, Literal, Protocol

from toolhub_sdk.errors import Cancelled
from toolhub_sdk.memory import Memory
from toolhub_sdk.normalise import normalise
from toolhub_sdk.strict_json import JSON

_LOG = logging.getLogger("toolhub_sdk.tool")
LogLevel = Literal["debug", "info", "warning", "error"]
LEVELS: Mapping[str, int] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
# Longer texts of a log's fields are cut to so many characters before they leave a tool.
CLIP = 16_384


class Clock(Protocol):
    def now(self) -> datetime:
        """The time, in UTC."""
        ...


class CancelSignal(Protocol):
    def is_set(self) -> bool:
        """Whether somebody asked the run to stop."""
        ...


class SystemClock:
    """The machine's time."""

    def now(self) -> datetime:
        return datetime.now(UTC)


@dataclass(frozen=True)
class FixedClock:
    """Always the same time; with it a replay gets what the recorded run got."""

    moment: datetime

    def now(self) -> datetime:
        return self.moment.astimezone(UTC)


def _log(message: str, fields: Mapping[str, Any], level: str) -> None:
    _LOG.log(LEVELS.get(level, logging.INFO), "%s %s", message, dict(fields))


def _log_partial(partial: JSON) -> None:
    _LOG.info("partial result %s", partial)


@dataclass(kw_only=True)
class ToolContext:
    """Given to a tool that has a parameter of this type. Everything has a default, so a test can make one.

    `session_id` to `user_id` say on whose behalf the run is; `project`, `context_data` and `hints` are the
    caller's JSON; `attempt` counts from 1. A tool whose determinism is bounded takes time from `clock` and
    chance from `random` only. `deadline` is in seconds of `time.monotonic()`, None without one. `degraded`
    holds the descriptions of the preconditions that failed without being critical. `config` has the package's
    settings and `secrets` those that the manifest marks as secret, both by name. `memory` holds the keys that
    the contract names.
    """

    run_id: str = "default"
    tool: str = "default"
    version: str = "default"
    session_id: str = "default"
    task_id: str = "default"
    loop_id: str = "default"
    agent_id: str = "default"
    user_id: str = "default"
    project: JSON = None
    context_data: JSON = None
    hints: JSON = None
    attempt: int = 1
    clock: Clock = field(default_factory=SystemClock)
    random: Random = field(default_factory=lambda: Random(0))  # noqa: S311 - it has to repeat
    cancelled: CancelSignal = field(default_factory=threading.Event)
    deadline: float | None = None
    degraded: Sequence[str] = ()
    config: Mapping[str, JSON] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    memory: Memory = field(default_factory=Memory)
    on_log: Callable[[str, Mapping[str, Any], str], None] = _log
    on_emit: Callable[[JSON], None] = _log_partial

    def log(self, message: str, *, level: LogLevel = "info", **fields: object) -> None:
        """Adds an entry to the run's log, which whoever may read the run reads. Never put a secret in it."""
        self.on_log(message, fields, level)

    def emit(self, partial: object) -> None:
        """Sends a part of the result while the tool still works; parts keep their order.

        Raises ToolError INVALID_OUTPUT for what is not JSON (see `normalise`).
        """
        self.on_emit(normalise(partial))

    def raise_if_cancelled(self) -> None:
        """To be called in long loops. Raises Cancelled when the run was asked to stop."""
        if self.cancelled.is_set():
            raise Cancelled(f"Run {self.run_id} was cancelled.")

    def seconds_left(self) -> float | None:
        """Seconds until the deadline, 0.0 when it has passed, None without one."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())
