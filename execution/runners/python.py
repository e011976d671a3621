"""The runtime python: a typed function of a release, in the sandbox, with that release's own packages."""

import dataclasses
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings

from core.errors import error_object
from core.json.strict import DEFAULT, Limits, StrictJSONError, loads
from execution.engine.call import Call
from execution.engine.outcomes import Outcome, success
from execution.models import Status
from execution.runners.bounds import limits_of
from execution.runners.causes import failed_error
from execution.runners.dynamic import dynamic_run, schema_given
from execution.runners.judging import (
    cancelled_error,
    ended,
    error_read,
    given,
    remembered,
    said_itself,
    tool_error,
    unfit_error,
)
from execution.runners.machine_paths import told
from execution.runners.repeating import repeated, repeating
from execution.runners.sandboxed import PACKAGE, Program, exit_failed, run_sandboxed
from execution.runners.traits import Runner
from execution.side_effects import SideEffect
from registry.contracts import hooks_of
from registry.environment_calls import environment_folder
from security.sandbox.interpreter import interpreter, interpreter_mounts
from security.sandbox.launch import Finished, Mount
from toolhub_sdk import ToolError
from toolhub_sdk.runtimes import python as sdk

ENVIRONMENT, SDK = "/toolhub/environment", "/toolhub/sdk"
# The SDK is loaded from its folder alone: what stands beside it is not to be seen.
_LOAD = """
import sys
if "toolhub_sdk" not in sys.modules:
    import importlib.util
    make, folder = importlib.util.spec_from_file_location, sys.argv[1]
    spec = make("toolhub_sdk", folder + "/__init__.py", submodule_search_locations=[folder])
    sdk = sys.modules["toolhub_sdk"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sdk)
from toolhub_sdk.entry import main
"""
_START = f"{_LOAD}main()\n"


class Python(Runner):
    name = sdk.Python.name
    can_repeat = True

    def run(self, call: Call) -> Outcome:
        """Runs a Python tool in the sandbox, after what its schema hook says to the arguments."""
        return dynamic_run(call, _run)


RUNTIME = Python()


def _run(call: Call) -> Outcome:
    if call.seeds and not call.hook:
        return run_sandboxed(call, lambda made: repeating(_program(made), made.seeds, "line"), repeated)
    lines = _Lines(call)
    outcome = run_sandboxed(call, _program, lambda *end: _judge(lines, *end), lines.take)
    if lines.broken is None:
        return outcome
    error = tool_error(call, lines.broken)
    # It was stopped in its midst.
    none = outcome.side_effect is SideEffect.NONE
    effect = SideEffect.NONE if none else SideEffect.POSSIBLE
    return dataclasses.replace(
        outcome, status=Status.FAILED, error=error, data=None, encoded=b"", side_effect=effect
    )


def _program(call: Call) -> Program:
    environment = environment_folder(
        call.version.release, seconds=call.start_left(), cancelled=call.cancelled
    )
    mounts = [*interpreter_mounts(), Mount(str(Path(settings.ROOT) / "toolhub_sdk"), SDK)]
    folders = [PACKAGE]
    if environment is not None:
        mounts.append(Mount(str(environment), ENVIRONMENT))
        folders.insert(0, ENVIRONMENT)
    module = call.version.entry.partition(":")[0]
    # As -I, but for PYTHONHASHSEED: no other variable that Python reads is passed (sandboxed.py).
    argv = [interpreter(), "-P", "-s", "-S", "-B", "-c", _START, SDK, module, *folders]
    goodbye = any("shutdown" in hooks_of(tool) for tool in call.version.release.manifest["tools"])
    return Program(argv, orjson.dumps(request_of(call)), mounts, prepare=_LOAD, marks=True, goodbye=goodbye)


def request_of(call: Call) -> dict[str, Any]:
    """What the entry point in the sandbox reads (toolhub_sdk/entry.py)."""
    context = {
        "run_id": str(call.run_id),
        "tool": call.tool,
        "version": call.version.version,
        "context_data": call.request.get("context_data"),
        "hints": call.request.get("hints"),
        "attempt": call.attempt,
        "degraded": list(call.degraded),
        **call.request.get("context", {}),
    }
    request = {
        "function": hooks_of(call.version.definition)[call.hook]
        if call.hook
        else call.version.entry.partition(":")[2],
        "arguments": dict(call.arguments),
        "context": context,
        "seconds": call.timeout_ms / 1000,
    }
    if call.settings.values:
        request["config"] = call.settings.values
    if call.hook:
        request["hook"] = call.hook
    if call.look:
        definition = call.version.definition
        request["look"] = {
            "hooks": dict(hooks_of(definition)),
            "schema": definition["inputSchema"],
            "only": call.look == "only",
        }
    if call.memory is not None:
        request["memory"] = call.memory
    if call.version.determinism == "bounded":
        request["fixed"] = _fixed(call)
    return request


def _fixed(call: Call) -> dict[str, str]:
    """Time and seed of a bounded tool: the run's own, and in a replay those recorded."""
    recorded = call.request.get("replay_of", {})
    began = call.moment or datetime.now(UTC)
    seed = UUID(recorded.get("run_id", str(call.run_id))).int
    return {"now": recorded.get("started_at") or began.isoformat(), "seed": str(seed)}


class _Lines:
    """The lines that the entry point writes: parts and log at once, the last one kept."""

    def __init__(self, call: Call) -> None:
        self._call = call
        # A result that just fits stands one level deeper here, and its canonical form may be shorter.
        self._limits = Limits(limits_of(call).output_bytes, DEFAULT.max_depth + 1)
        self._rest = b""
        self.last: Mapping[str, Any] | None = None
        self.broken: ToolError | None = None

    def take(self, block: bytes) -> None:
        """Reads what came. A line that is none, or too many parts, stop the tool."""
        *lines, self._rest = (self._rest + block).split(b"\n")
        for line in lines:
            if self.broken is None:
                self._line(line)

    def _line(self, line: bytes) -> None:
        try:
            said = loads(line, limits=self._limits)
            if not isinstance(said, dict):
                raise ToolError("INVALID_OUTPUT", "The tool's answer is not an object.", recoverable=False)
            if "emit" in said:
                self._call.emit(said["emit"])
            elif "log" in said:
                self._call.log.add(said["log"], said.get("fields"), said.get("level"))
            else:
                self.last = said
        except StrictJSONError as error:
            self._break(
                ToolError("INVALID_OUTPUT", f"The tool's answer is not JSON: {error}", recoverable=False)
            )
        except ToolError as error:
            self._break(error)

    def _break(self, error: ToolError) -> None:
        self.broken = error
        self._call.cancelled.set()


def _judge(lines: _Lines, call: Call, done: Finished, started_at: datetime) -> Outcome:
    def stopped(status: Status, error: dict[str, Any], side_effect: SideEffect) -> Outcome:
        return ended(
            status, error, started_at=started_at, duration_ms=done.duration_ms, side_effect=side_effect
        )

    said = lines.last
    if said is None:
        return exit_failed(call, done, started_at)
    if call.look == "only" and "result" in said:
        now = datetime.now(UTC)
        return success(None, started_at=started_at, ended_at=now, duration_ms=done.duration_ms)
    if "result" in said:
        read = schema_given if call.hook else given
        made = read(call, said["result"], started_at=started_at, duration_ms=done.duration_ms)
        return remembered(call, made, said["memory"]) if "memory" in said else made
    if "unfit" in said:
        return stopped(Status.FAILED, unfit_error(said["unfit"]), SideEffect.NONE)
    if call.look and "loading" in said:
        module = call.version.entry.partition(":")[0]
        why = f"The module {module} cannot be imported: {said['failed']}: {said['loading']}"
        return stopped(Status.FAILED, unfit_error([told(call, why)]), SideEffect.NONE)
    if "error" in said:
        own = error_read(told(call, said["error"]))
        return stopped(Status.FAILED, tool_error(call, own), said_itself(own))
    if said.get("cancelled"):
        return stopped(Status.CANCELLED, cancelled_error(), SideEffect.POSSIBLE)
    if said.get("exceeded"):
        message = f"{call.tool} asked for more memory than it may have."
        error = error_object("RESOURCE_EXCEEDED", message, details={"resource": "memory"})
        return stopped(Status.FAILED, error, SideEffect.POSSIBLE)
    kind, text = str(said.get("failed", "no answer"))[:80], str(said.get("message", ""))
    return stopped(Status.FAILED, failed_error(call, kind, text), SideEffect.DONE)
