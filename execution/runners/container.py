"""The runtime container: an image by its digest, through the engine's socket.

It speaks JSON as programs do (json_programs.py). Where no engine answers, the run is refused with what would
help.
"""

import contextlib
import logging
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import orjson

from core.errors import ToolHubError
from execution.engine.call import Call
from execution.engine.outcomes import Outcome
from execution.runners.bounds import limits_of, network_of
from execution.runners.json_programs import judge, request_of
from execution.runners.printed import Printed
from execution.runners.sandboxed import environment_of, held_outcome, refused
from execution.runners.traits import Runner
from execution.side_effects import SideEffect
from security.sandbox.abilities import Ability, ability_try
from security.sandbox.engine import Engine, EngineError, Streams, body_of, engine_find, talk
from security.sandbox.launch import Finished, Limits
from security.sandbox.levels import Level
from toolhub_sdk.runtimes import container as sdk

log = logging.getLogger(__name__)
# What the engine may take to say how a container ended, in seconds.
_END_S = 10.0


class Container(Runner):
    name = sdk.Container.name
    can_look = False
    # Whether each container is a virtual machine, or has a kernel of its own.
    in_machine: bool = False

    def health(self) -> Ability:
        """Whether an engine answers that makes such containers."""
        return ability_try(self.name, lambda: _engine(self.name, in_machine=self.in_machine))

    def run(self, call: Call) -> Outcome:
        """Runs a release's image."""
        return _run(call, in_machine=self.in_machine)


RUNTIME = Container()


def _engine(named: str, *, in_machine: bool) -> str:
    _, machine = engine_find(named, in_machine=in_machine)
    return f"an engine answers{f', and makes machines with {machine}' if machine else ''}"


def _run(call: Call, *, in_machine: bool) -> Outcome:
    runtime = call.version.release.manifest["runtime"]
    limits, printed = limits_of(call), Printed(call)
    started_at = datetime.now(UTC)
    try:
        _check(call)
        engine, machine = engine_find(call.runner, in_machine=in_machine)
        with _container(engine, call, runtime, limits, machine) as container:
            done = _carried_out(engine, container, call, limits, printed)
    except EngineError as error:
        effect = SideEffect.POSSIBLE if isinstance(error, _StartUnanswered) else SideEffect.NONE
        return refused(call, _failed(error, runtime["image"]), effect)
    except ToolHubError as error:
        return refused(call, error)
    held = {"level": call.runner, "image": runtime["image"], "limits": limits.as_dict()}
    if machine:
        held["machine"] = machine
    return held_outcome(call, done, limits, started_at, judge, held, printed)


class _StartUnanswered(EngineError):
    """The engine was told to start a container, and did not say whether it did."""


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
    ordered = time.monotonic()
    with contextlib.closing(engine.attach(container)) as wire:
        try:
            engine.ask("POST", f"/containers/{container}/start")
        except EngineError as error:
            if error.status:
                raise
            raise _StartUnanswered(str(error)) from error
        call.begin()
        began = time.monotonic()
        given = orjson.dumps(request_of(call))
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
        start_ms=round((began - ordered) * 1000, 3),
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
            suggestions=["Have its author use a runtime that the hub's own sandbox holds."],
        )


def _failed(error: EngineError, image: str) -> ToolHubError:
    if error.status == 404:
        return ToolHubError(
            "The image of this tool is not on the worker's machine.",
            code="DEPENDENCY_MISSING",
            suggestions=[f"Fetch it there: `docker pull {image}`."],
        )
    return ToolHubError("The container engine failed.", code="SANDBOX_UNAVAILABLE", data={"why": str(error)})
