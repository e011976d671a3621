"""The runtime builtin: catalogue tools, in this process. Trusted code only."""

import dataclasses
import functools
import importlib
import logging
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.conf import settings

import toolhub_sdk
from core.errors import error_object
from core.json.canonical import CanonicalError
from execution.engine.call import Call
from execution.engine.outcomes import Outcome, success
from execution.models import Status
from execution.runners.apart import run_apart, run_here
from execution.runners.causes import failed_error
from execution.runners.judging import (
    cancelled_error,
    checked,
    ended,
    remembered,
    said_itself,
    tool_error,
)
from execution.runners.traits import HubRunner
from execution.side_effects import SideEffect
from toolhub_sdk import Cancelled, FixedClock, Memory, ToolContext, ToolError
from toolhub_sdk.errors import exception_text
from toolhub_sdk.runtimes import builtin as sdk

log = logging.getLogger(__name__)


@functools.cache
def _function(entry: str) -> Callable[..., object]:
    """The function behind `module:name`, which has to be a tool of the catalogue."""
    module, _, name = entry.partition(":")
    if module != settings.CATALOGUE and not module.startswith(f"{settings.CATALOGUE}."):
        raise ImportError(f"{entry} is not in the catalogue")
    function: Callable[..., object] = getattr(importlib.import_module(module), name)
    return function


class Builtin(HubRunner):
    name = sdk.Builtin.name
    is_trusted = sdk.Builtin.is_own

    def run(self, call: Call) -> Outcome:
        """Runs a built-in tool in a thread that can be left behind, or in the caller's where it is quick."""
        is_quick = _is_quick(call.version.entry) and not call.hook
        return run_here(call, _work) if is_quick else run_apart(call, _work)


RUNTIME = Builtin()


@functools.cache
def _is_quick(entry: str) -> bool:
    """Whether the catalogue says so; what cannot be loaded is left to the run itself to tell."""
    try:
        spec = toolhub_sdk.spec_of(_function(entry))
    except Exception:  # noqa: BLE001
        return False
    return spec is not None and spec.quick


def _context(call: Call, started_at: datetime) -> ToolContext:
    """The tool's context. A bounded tool's time and chance are the run's, and in a replay those recorded."""
    given = call.request.get("context", {})
    context = ToolContext(
        run_id=str(call.run_id),
        tool=call.tool,
        version=call.version.version,
        context_data=call.request.get("context_data"),
        hints=call.request.get("hints"),
        attempt=call.attempt,
        degraded=call.degraded,
        cancelled=call.cancelled,
        deadline=call.deadline,
        on_log=call.log.add,
        on_emit=call.emit,
        config=call.settings.values,
        secrets=call.settings.secrets,
        **given,
    )
    if call.memory is not None:
        context.memory = Memory(call.memory["found"], call.memory["named"])
    if call.version.determinism == "bounded":
        recorded = call.request.get("replay_of", {})
        at = recorded.get("started_at")
        context.clock = FixedClock(datetime.fromisoformat(at) if at else call.moment or started_at)
        seed = UUID(recorded.get("run_id", str(call.run_id))).int
        context.random = random.Random(seed)  # noqa: S311 - it has to repeat
    return context


def _work(call: Call) -> Outcome:
    started_at = datetime.now(UTC)
    begun, cpu = time.perf_counter(), time.thread_time()
    outcome = _judge(call, started_at, begun)
    resources = {"cpu_ms": round((time.thread_time() - cpu) * 1000, 3)}
    return dataclasses.replace(outcome, resources=resources)


def _judge(call: Call, started_at: datetime, begun: float) -> Outcome:
    """Calls the function and turns whatever comes of it into an outcome."""

    def stopped(status: Status, error: dict[str, Any], side_effect: SideEffect = SideEffect.DONE) -> Outcome:
        return ended(status, error, started_at=started_at, duration_ms=_ms(begun), side_effect=side_effect)

    try:
        context = _context(call, started_at)
        data = toolhub_sdk.call(_function(call.version.entry), call.arguments, context)
        done = success(data, started_at=started_at, ended_at=datetime.now(UTC), duration_ms=_ms(begun))
    except Cancelled:
        if call.cancelled.is_set():
            return stopped(Status.CANCELLED, cancelled_error(), SideEffect.POSSIBLE)
        return stopped(Status.FAILED, failed_error(call, "Cancelled"))
    except ToolError as error:
        return stopped(Status.FAILED, tool_error(call, error), said_itself(error))
    except CanonicalError as error:
        return stopped(Status.FAILED, error_object("INVALID_OUTPUT", f"The result is not JSON: {error}"))
    except (Exception, SystemExit) as error:  # a tool may not end the process that serves others
        log.exception("%s failed", call.tool)
        return stopped(Status.FAILED, failed_error(call, type(error).__name__, exception_text(error)))
    made = checked(call, done)
    return remembered(call, made, context.memory.changes) if call.memory else made


def _ms(begun: float) -> float:
    return round((time.perf_counter() - begun) * 1000, 3)
