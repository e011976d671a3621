"""The runtime wasm: a WebAssembly module of a release, with fuel and memory of its own, in the sandbox.

It speaks JSON as programs do (json_programs.py).
"""

import importlib.metadata
from collections.abc import Mapping
from datetime import UTC, datetime
from threading import Event
from typing import Any

import orjson

from core.errors import error_object
from execution.engine.call import Call
from execution.engine.outcomes import Outcome, success
from execution.models import Status
from execution.runners.bounds import limits_of
from execution.runners.causes import failed_error
from execution.runners.json_programs import judge, request_of
from execution.runners.judging import ended, timeout_error
from execution.runners.sandboxed import Program, run_sandboxed
from execution.runners.traits import Runner
from execution.side_effects import SideEffect
from registry.runtimes import Made
from registry.store import release_folder
from security.sandbox.abilities import Ability, ability_try
from security.sandbox.launch import MIB, Finished, Mount
from security.sandbox.wasm import (
    FAULT,
    FUEL,
    LOAD,
    MEMORY,
    MODULE,
    MODULES,
    TIME,
    module_build,
    module_name,
    wasm_argv,
    wasm_mounts,
)
from toolhub_sdk.runtimes import wasm as sdk

# What Python and the engine take beside the module's own memory.
ENGINE_BYTES = 96 * MIB


class Wasm(Runner):
    name = sdk.Wasm.name
    made = Made(MODULES, module_name)

    def prepare(
        self, runtime: Mapping[str, Any], files: Mapping[str, bytes], cancelled: Event
    ) -> tuple[str, ...]:
        """Compiles the module. Raises ToolHubError PACKAGE_REFUSED, SANDBOX_UNAVAILABLE, CANCELLED."""
        module_build(files[runtime["entry"]], cancelled)
        return ("The module is compiled.",)

    def health(self) -> Ability:
        """Whether the engine is installed."""
        return ability_try(self.name, _engine)

    def run(self, call: Call) -> Outcome:
        """Runs a module in the sandbox. What it exports and imports was seen when it was compiled."""
        if call.look == "only":
            now = datetime.now(UTC)
            return success(None, started_at=now, ended_at=now, duration_ms=0.0)
        return run_sandboxed(call, _program, _judge)


RUNTIME = Wasm()


def _engine() -> str:
    wasm_mounts()
    return f"wasmtime {importlib.metadata.version('wasmtime')}"


def _program(call: Call) -> Program:
    """The module is compiled once; where the installation did it on another machine, here."""
    release = call.version.release
    source = release_folder(release) / release.manifest["runtime"]["entry"]
    module = module_build(source.read_bytes(), call.cancelled, max(0.001, call.start_left()))
    bounds = {
        "fuel": call.version.declared.get("resourceBounds", {}).get("maxFuel"),
        "memory": limits_of(call).memory_bytes,
        "seconds": call.timeout_ms / 1000,
    }
    stdin = orjson.dumps(bounds) + b"\n" + orjson.dumps(request_of(call))
    return Program(
        wasm_argv("serve", MODULE),
        stdin,
        [*wasm_mounts(), Mount(str(module), MODULE)],
        prepare=LOAD,
        marks=True,
        extra_bytes=ENGINE_BYTES,
    )


def _judge(call: Call, done: Finished, started_at: datetime) -> Outcome:
    code = done.exit_code
    if code == TIME:
        return ended(Status.TIMEOUT, timeout_error(call), started_at=started_at, duration_ms=done.duration_ms)
    spent = {FUEL: "fuel", MEMORY: "memory"}.get(code or 0)
    if spent:
        message = f"{call.tool} used more {spent} than it may."
        error = error_object("RESOURCE_EXCEEDED", message, details={"resource": spent})
        return ended(Status.FAILED, error, started_at=started_at, duration_ms=done.duration_ms)
    if code == FAULT:
        error = failed_error(call, "a fault of its module")
        return ended(
            Status.FAILED,
            error,
            started_at=started_at,
            duration_ms=done.duration_ms,
            side_effect=SideEffect.DONE,
        )
    return judge(call, done, started_at)
