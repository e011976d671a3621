"""Running a program in a sandbox: a supervisor for each run, fed and heard from here."""

import dataclasses
import marshal
import os
import select
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from django.conf import settings

from core.errors import ToolHubError
from security.sandbox import zygote
from security.sandbox.cgroups import delegation, group_end, group_name
from security.sandbox.folders import stale_sweep
from security.sandbox.gate import Gate
from security.sandbox.launch import WORK, Finished, Launch, Mount
from security.sandbox.levels import Level
from security.sandbox.machine import bubblewrap, program_of, tree
from security.sandbox.nursery import Supervisor, send
from security.sandbox.remedies import start_failed
from security.sandbox.seccomp import filter_hash
from security.sandbox.supervisor.channel import (
    BEGUN,
    CANCEL,
    END,
    FILE,
    GO,
    GO_HEAD,
    HEAD,
    LOG,
    OUTPUT,
    PRINTED,
)
from security.sandbox.supervisor.order import order_pack

# So often it is looked whether the run was cancelled, in seconds.
LOOK_S = 0.02
Take = Callable[[bytes], None]


class Listener(Protocol):
    """Hears a program while it runs; what takes it long does not hold up the supervisor."""

    def output(self, content: bytes) -> None:
        """More of its output, where nobody else takes that."""

    def log(self, content: bytes) -> None:
        """More of its log, up to as many bytes as are kept of the end."""

    def look(self) -> None:
        """Called again and again."""


def sandbox_run(
    launch: Launch,
    cancelled: threading.Event,
    on_output: Take | None = None,
    *,
    proc: bool = True,
    listener: Listener | None = None,
) -> Finished:
    """Runs a program to its end at the launch's level, without network, and leaves nothing of it.

    `cancelled` tells it to stop (SIGTERM, then the end within two seconds). `on_output` takes its output as
    it comes; what it raises stops the run and is raised here. `proc` false leaves /proc out, where the
    machine does not let it be made. Raises ToolHubError SANDBOX_UNAVAILABLE when the sandbox could not be
    made: then nothing was run.
    """
    held = Held(launch, proc=proc)
    try:
        held.go(launch)
        return held.finish(cancelled, on_output, listener)
    finally:
        held.close()


class Held:
    """A program that is started in its sandbox and waits for its input; it is used once.

    With `lasts` it is a zygote, at the level isolated: used again and again, each time by another process
    that has nothing of the one before.
    """

    def __init__(self, launch: Launch, *, proc: bool = True, lasts: bool = False) -> None:
        if lasts:
            launch = dataclasses.replace(launch, mounts=(*launch.mounts, *_zygote_files()))
        self._launch, self.lasts, self._over = launch, lasts, False
        # When the start was ordered; a program that waits has had a part of it.
        self._ordered = time.monotonic()
        self._waits = False
        self._work, self._group = _work_folder(launch.level), group_name()
        self._gate: Gate | None = None
        self._way: socket.socket | None = None
        door: socket.socket | None = None
        if launch.network:
            self._way, door = socket.socketpair()
        try:
            order = _order(launch, self._work, self._group, proc, lasts)
            self._supervisor = Supervisor(order, door)
        except BaseException:
            self._remove()
            raise
        finally:
            if door:
                door.close()

    @property
    def is_alive(self) -> bool:
        """Whether its supervisor still watches, and has nothing to say yet."""
        return self._supervisor.is_alive

    def go(self, launch: Launch) -> None:
        """Gives the program its input; its start has a time of its own, then the tool's runs."""
        if self._waits:
            self._ordered = time.monotonic()
        self._waits = True
        secrets = launch.secrets or b""
        if self._way:
            self._gate = Gate(launch.network, self._way, bytes_most=launch.network_bytes)
        head = GO + GO_HEAD.pack(launch.limits.wall_s, launch.limits.start_s, len(launch.stdin), len(secrets))
        send(self._supervisor.into, head + launch.stdin + secrets)

    def finish(
        self, cancelled: threading.Event, on_output: Take | None, listener: Listener | None = None
    ) -> Finished:
        """Hears the program to its end."""
        out, hearing, asked = self._supervisor.out, _Hearing(on_output, listener), False
        while True:
            if cancelled.is_set() and not asked:
                asked = True
                send(self._supervisor.into, CANCEL)
            if listener:
                listener.look()
            if not select.select([out], [], [], None if asked else LOOK_S)[0]:
                continue
            block = os.read(out, 1 << 16)
            if not block:
                return self._ended(hearing)
            hearing.take(block)
            if hearing.report is not None:
                return self._ended(hearing)

    def close(self) -> None:
        """Ends whatever is left. Without its input a supervisor ends the tool and itself."""
        self._supervisor.close(over=self._over)
        group_end(self._group)
        self._remove()

    def _ended(self, hearing: "_Hearing") -> Finished:
        # What has reported is at its end, but for a zygote, which goes on.
        self._over = hearing.report is not None and not self.lasts
        start_ms = round(((hearing.begun_at or time.monotonic()) - self._ordered) * 1000, 3)
        done = dataclasses.replace(_finished(hearing, self._launch), start_ms=start_ms)
        if self._gate is None:
            return done
        self._gate.close()
        return dataclasses.replace(done, reached=self._gate.reached)

    def _remove(self) -> None:
        if self._gate:
            self._gate.close()
        if self._way:
            self._way.close()
        if not self._work:
            return
        try:
            os.rmdir(self._work)
        except OSError:
            # Not by Python: its way down is recursive, and a tool can nest folders without end.
            subprocess.run(["rm", "-rf", "--", self._work], check=False, stdin=subprocess.DEVNULL)


def _work_folder(level: Level) -> str:
    """A new work folder on this machine, empty text for a level that makes its own in memory."""
    if level is Level.ISOLATED:
        return ""
    stale_sweep()
    above = Path(settings.DATA) / "sandbox"
    above.mkdir(mode=0o711, exist_ok=True)
    return tempfile.mkdtemp(dir=above)


def _zygote_files() -> list[Mount]:
    return [Mount(str(Path(settings.ROOT) / file), f"{zygote.FOLDER}/{file}") for file in zygote.FILES]


def _order(launch: Launch, work: str, group: str, proc: bool, lasts: bool) -> bytes:
    def placed(text: str) -> str:
        """A path inside as this machine has it, for levels without a file system of their own."""
        for host, inside in places:
            if text == inside or text.startswith(f"{inside}/"):
                return host + text[len(inside) :]
        return text

    places = [] if launch.level is Level.ISOLATED else [(m.host, m.inside) for m in launch.mounts]
    places += [(work, WORK)] if work else []
    header = {
        "level": launch.level.value,
        "argv": [placed(word) for word in launch.argv],
        "environment": {name: placed(value) for name, value in launch.environment.items()},
        "bubblewrap": bubblewrap() or "",
        "cwd": placed(launch.cwd),
        "tree": tree(),
        "mounts": [(os.path.realpath(m.host), m.inside, m.writable, m.most_bytes) for m in launch.mounts],
        "work": work,
        "group": group,
        "controllers": delegation().controllers,
        "cpus": settings.SANDBOX_CPUS,
        "limits": launch.limits.as_dict(),
        "as_root": settings.SANDBOX_AS_ROOT,
        "proc": proc,
        "goodbye": launch.goodbye,
        "secrets": launch.secrets is not None,
        "prepare": launch.prepare if lasts else "",
        "python": bool(launch.prepare),
        "marks": launch.marks,
    }
    return order_pack(header, program_of(launch.level))


class _Hearing:
    """What a supervisor said so far."""

    def __init__(self, on_output: Take | None, listener: Listener | None) -> None:
        self._buffer = bytearray()
        self._on_output, self._listener = on_output, listener
        self.stdout = bytearray()
        self.log = b""
        self.files: list[tuple[str, bytes]] = []
        self.report: dict[str, Any] | None = None
        # Monotonic seconds.
        self.begun_at: float | None = None

    def take(self, block: bytes) -> None:
        """Reads the frames that are complete, up to the report: what a zygote says later is of no call."""
        self._buffer += block
        while self.report is None and len(self._buffer) >= HEAD.size:
            kind, length = HEAD.unpack_from(self._buffer)
            if len(self._buffer) < HEAD.size + length:
                return
            content = bytes(self._buffer[HEAD.size : HEAD.size + length])
            del self._buffer[: HEAD.size + length]
            if kind == OUTPUT and self._on_output:
                self._on_output(content)
            elif kind == OUTPUT:
                self.stdout += content
                if self._listener:
                    self._listener.output(content)
            elif kind == BEGUN:
                self.begun_at = time.monotonic()
            elif kind == PRINTED and self._listener:
                self._listener.log(content)
            elif kind == LOG:
                self.log = content
            elif kind == FILE:
                self.files.append(marshal.loads(content))  # noqa: S302 - our own supervisor wrote it
            elif kind == END:
                self.report = marshal.loads(content)  # noqa: S302 - our own supervisor wrote it


def _refused(launch: Launch, report: Mapping[str, Any]) -> ToolHubError:
    """The sandbox was not made: not in time, or it cannot be made here."""
    if report.get("late"):
        return start_failed(f"The sandbox {launch.level} was not made in time: {report['why']}.")
    message = f"The sandbox {launch.level} could not be made."
    return ToolHubError(message, code="SANDBOX_UNAVAILABLE", data={"why": report["why"]})


def _finished(hearing: _Hearing, launch: Launch) -> Finished:
    report = hearing.report or {"how": "killed"}
    if report["how"] == "refused":
        raise _refused(launch, report)
    program = program_of(launch.level)
    return Finished(
        how=report["how"],
        exit_code=report.get("exit_code"),
        stdout=bytes(hearing.stdout),
        log=hearing.log,
        duration_ms=report.get("duration_ms", 0.0),
        resources={
            name: report[name]
            for name in ("cpu_ms", "max_memory_bytes", "disk_bytes", "cgroup_bytes")
            if name in report
        },
        level=launch.level,
        filter_hash=filter_hash(program) if program else None,
        cgroup=report.get("cgroup", ()),
        asked=report.get("asked", False),
        parked=report.get("parked", False),
        # Without a report nobody knows: what had its input may have begun.
        begun=report.get("begun", True),
        files=hearing.files,
        skipped=report.get("skipped", ()),
        logged=report.get("logged", 0),
    )
