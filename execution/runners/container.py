"""The runners container and vm: an image by its digest, through the engine's socket, spoken to as a command.

Where no engine answers, or none that makes virtual machines, the run is refused with what would help.
"""

import contextlib
import logging
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import orjson

from core.errors import ToolHubError
from execution.engine.outcomes import Outcome
from execution.runners import command
from execution.runners.bounds import limits_of, network_of
from execution.runners.call import Call
from execution.runners.printed import Printed
from execution.runners.sandboxed import environment_of, held_outcome, refused
from security.sandbox.engine import Engine, EngineError, Streams, body_of, engine_find, talk
from security.sandbox.launch import Finished, Limits
from security.sandbox.levels import Level

log = logging.getLogger(__name__)
# What the engine may take to say how a container ended, in seconds.
_END_S = 10.0


def run(call: Call) -> Outcome:
    """Runs a release's image."""
    runtime = call.version.release.manifest["runtime"]
    limits, printed = limits_of(call), Printed(call)
    started_at = datetime.now(UTC)
    try:
        _check(call)
        engine, machine = engine_find(call.runner)
        with _container(engine, call, runtime, limits, machine) as container:
            done = _carried_out(engine, container, call, limits, printed)
    except EngineError as error:
        return refused(call, _failed(error, runtime["image"]))
    except ToolHubError as error:
        return refused(call, error)
    held = {"level": call.runner, "image": runtime["image"], "limits": limits.as_dict()}
    if machine:
        held["machine"] = machine
    return held_outcome(call, done, limits, started_at, command.judge, held, printed)


@contextlib.contextmanager
def _container(
    engine: Engine, call: Call, runtime: dict[str, Any], limits: Limits, machine: str | None
) -> Iterator[str]:
    """A container that is there for this call, and gone afterwards whatever happened."""
    body = body_of(runtime["image"], runtime.get("entry", []), limits.as_dict(), str(call.run_id), machine)
    body["Env"] = [f"{name}={value}" for name, value in environment_of(call).items()]
    made = engine.create(body)
    try:
        yield made
    finally:
        try:
            engine.ask("DELETE", f"/containers/{made}?force=1&v=1", expected=(404,))
        except EngineError as error:
            log.warning("the container of run %s is left: %s", call.run_id, error)


def _carried_out(engine: Engine, container: str, call: Call, limits: Limits, printed: Printed) -> Finished:
    streams = Streams(limits.output_bytes, limits.log_bytes, printed)
    began = time.monotonic()
    with contextlib.closing(engine.attach(container)) as wire:
        engine.ask("POST", f"/containers/{container}/start")
        given = orjson.dumps(command.request_of(call))
        try:
            how = talk(wire, given, streams, call.deadline, call.cancelled)
        except OSError:
            how = "exited"  # the container closed its end; its code says why
    how, code = engine.ended(container, _END_S) if how == "exited" else (how, None)
    return Finished(
        how=how,  # type: ignore[arg-type]
        exit_code=code,
        stdout=bytes(streams.output),
        log=bytes(streams.log),
        duration_ms=(time.monotonic() - began) * 1000,
        resources={},
        level=Level.ISOLATED,
        filter_hash=None,
        logged=streams.logged,
    )


def _check(call: Call) -> None:
    """What a container is not given is refused, not left out. Raises ToolHubError."""
    named = call.version.declared.get("filesystem", {})
    wanted = [
        what
        for what, asked in (
            ("hosts to reach", network_of(call)),
            ("folders", named.get("read") or named.get("write")),
            ("secrets", call.settings.secrets),
        )
        if asked
    ]
    if wanted:
        raise ToolHubError(
            f"A tool of the runtime {call.runner} gets no {' and no '.join(wanted)} here.",
            code="SANDBOX_UNAVAILABLE",
            suggestions=["Use the runtime command or python for it."],
        )


def _failed(error: EngineError, image: str) -> ToolHubError:
    if error.status == 404:
        return ToolHubError(
            "The image of this tool is not on the worker's machine.",
            code="DEPENDENCY_MISSING",
            suggestions=[f"Fetch it there: `docker pull {image}`."],
        )
    return ToolHubError("The container engine failed.", code="SANDBOX_UNAVAILABLE", data={"why": str(error)})
