"""Docker's and Podman's API over its Unix socket: what one run in a container takes, and no more of it.

Version 1.41 of the API, which Docker from 20.10 on and Podman from 3 on answer.
"""

import http.client
import json
import math
import os
import re
import select
import socket
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

from django.conf import settings

from core.errors import ToolHubError
from security.sandbox.run import Listener
from security.sandbox.supervisor.watch import LOG_MOST

PREFIX = "/v1.41"
STEP_S = 10.0
PLACES = ("/var/run/docker.sock", "/run/podman/podman.sock")
# Engines call what starts a container by these names, the strongest first.
VM_RUNTIMES = ("kata", "kata-runtime", "kata-qemu", "kata-clh", "io.containerd.kata.v2", "runsc")
_HEAD = struct.Struct(">BxxxI")
_ANSWER_MOST = 4 << 20
_LOOK_S = 0.05
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_ATTACHED = re.compile(rb"HTTP/1\.[01] (?:101|200) ")


class EngineError(Exception):
    """The engine said no, or does not answer. `status` is that of its answer, 0 without."""

    def __init__(self, told: str, status: int = 0) -> None:
        super().__init__(told)
        self.status = status


def engine_place() -> str:
    """The socket that is named, else the first that is there; empty where there is none."""
    return settings.CONTAINER_SOCKET or next((place for place in PLACES if os.path.exists(place)), "")


class _Wire(socket.socket):
    """A connection that is given up at one moment, however slowly the other end sends."""

    ends = math.inf

    def recv_into(self, *args: Any) -> int:
        """As of any socket. Raises TimeoutError."""
        self._hurry()
        return super().recv_into(*args)

    def recv(self, *args: Any) -> bytes:
        """As of any socket. Raises TimeoutError."""
        self._hurry()
        return super().recv(*args)

    def _hurry(self) -> None:
        if self.ends == math.inf:
            return
        left = self.ends - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self.settimeout(left)


@dataclass
class Engine:
    """One engine, by its socket."""

    place: str

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        seconds: float = STEP_S,
        expected: tuple[int, ...] = (),
    ) -> dict[str, Any]:
        """The object that it answers to one request, empty where it answers none. Raises EngineError."""
        wire = http.client.HTTPConnection("engine", timeout=seconds)
        try:
            wire.sock = self._connected(seconds)
            content = None if body is None else json.dumps(body).encode()
            wire.request(method, PREFIX + path, content, {"Content-Type": "application/json"})
            answer = wire.getresponse()
            said = answer.read(_ANSWER_MOST)
        except (OSError, http.client.HTTPException) as error:
            raise EngineError(f"the engine does not answer: {error.__class__.__name__}") from error
        finally:
            wire.close()
        if answer.status >= 300 and answer.status not in expected:
            raise EngineError(_message(said), answer.status)
        return _object(said)

    def create(self, body: Mapping[str, Any]) -> str:
        """A new container's id. Raises EngineError."""
        made = self.ask("POST", "/containers/create", body).get("Id")
        # It becomes a part of paths.
        if not isinstance(made, str) or not _ID.fullmatch(made):
            raise EngineError("its answer names no container")
        return made

    def ended(self, container: str, seconds: float) -> tuple[str, int | None]:
        """How a container ended by itself, with its exit code. One that cannot say it leaves it killed."""
        try:
            code = self.ask("POST", f"/containers/{container}/wait", seconds=seconds).get("StatusCode")
            state = self.ask("GET", f"/containers/{container}/json").get("State")
        except EngineError:
            return "killed", None
        if not isinstance(code, int) or not isinstance(state, dict):
            return "killed", None
        return ("memory" if state.get("OOMKilled") is True else "exited"), code

    def attach(self, container: str) -> socket.socket:
        """A connection with a container's three streams. Raises EngineError."""
        made = self._connected(STEP_S)
        path = f"{PREFIX}/containers/{container}/attach?stream=1&stdin=1&stdout=1&stderr=1"
        asked = f"POST {path} HTTP/1.1\r\nHost: engine\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
        try:
            made.sendall(asked.encode())
            head = b""
            # Byte by byte: what follows the head belongs to the streams.
            while not head.endswith(b"\r\n\r\n") and len(head) < 16_384 and (block := made.recv(1)):
                head += block
        except OSError as error:
            made.close()
            raise EngineError("the engine did not attach") from error
        if not _ATTACHED.match(head):
            made.close()
            raise EngineError("the engine did not attach")
        made.ends = math.inf
        return made

    def _connected(self, seconds: float) -> _Wire:
        made = _Wire(socket.AF_UNIX)
        made.settimeout(seconds)
        made.ends = time.monotonic() + seconds
        try:
            made.connect(self.place)
        except OSError as error:
            made.close()
            raise EngineError(f"no engine answers at its socket: {error.strerror}") from error
        return made


@dataclass
class Streams:
    """What came of a container: its output, and the end of its log."""

    output_most: int
    log_most: int
    listener: Listener | None = None
    output: bytearray = field(default_factory=bytearray)
    log: bytearray = field(default_factory=bytearray)
    logged: int = 0
    _rest: bytearray = field(default_factory=bytearray)

    @property
    def is_over(self) -> bool:
        return len(self.output) > self.output_most or self.logged > LOG_MOST

    def take(self, block: bytes) -> None:
        """Reads frames: a stream's number, a length, and bytes."""
        self._rest += block
        while len(self._rest) >= _HEAD.size:
            stream, length = _HEAD.unpack_from(self._rest)
            if len(self._rest) < _HEAD.size + length:
                # A frame that is longer than everything that is allowed is not waited for.
                if length > self.output_most + (1 << 20):
                    self.output += bytes(self.output_most + 1)
                return
            content = self._rest[_HEAD.size : _HEAD.size + length]
            del self._rest[: _HEAD.size + length]
            if stream == 2:
                self.log += content
                self.logged += len(content)
                if self.listener:
                    self.listener.log(bytes(content))
                del self.log[: -self.log_most]
            else:
                self.output += content
                if self.listener:
                    self.listener.output(bytes(content))


def talk(wire: socket.socket, given: bytes, streams: Streams, deadline: float, cancelled: Event) -> str:
    """Feeds a container and hears it: how that ended, as exited, timeout, cancelled or output."""
    wire.setblocking(False)
    left = memoryview(given)
    fed = False
    while True:
        if cancelled.is_set():
            return "cancelled"
        if (seconds := deadline - time.monotonic()) <= 0:
            return "timeout"
        if streams.listener:
            streams.listener.look()
        if streams.is_over:
            return "output"
        if not left and not fed:
            fed = True
            wire.shutdown(socket.SHUT_WR)
        readable, writable, _ = select.select([wire], [wire] if left else [], [], min(_LOOK_S, seconds))
        if writable:
            left = left[wire.send(left[:65_536]) :]
        if readable:
            if not (block := wire.recv(65_536)):
                return "exited"
            streams.take(block)


def engine_find(runtime: str, *, in_machine: bool) -> tuple[Engine, str | None]:
    """The engine for a runtime, and the name of what makes the machine where each container is to be in one.

    Raises ToolHubError SANDBOX_UNAVAILABLE with what was tried and what would help.
    """
    place = engine_place()
    if not place:
        raise unavailable(
            runtime, in_machine, f"no socket of Docker or Podman at {' or '.join(map(_named, PLACES))}"
        )
    engine = Engine(place)
    try:
        engine.ask("GET", "/_ping")
        if not in_machine:
            return engine, None
        named = engine.ask("GET", "/info").get("Runtimes")
    except EngineError as error:
        raise unavailable(runtime, in_machine, str(error)) from error
    found = next((name for name in VM_RUNTIMES if isinstance(named, dict) and name in named), None)
    if found is None:
        kvm = "is there" if os.path.exists("/dev/kvm") else "is not there"
        raise unavailable(runtime, in_machine, f"the engine has neither Kata nor gVisor; kvm {kvm}")
    return engine, found


_MACHINES = "For virtual machines add Kata Containers (needs /dev/kvm) or gVisor to the engine."
_NO_KVM = "For virtual machines add gVisor to the engine; Kata Containers needs /dev/kvm, which is not here."


def unavailable(runtime: str, in_machine: bool, reason: str) -> ToolHubError:
    """The refusal, with probe and remedy."""
    remedies = [
        "Install Docker or Podman on the workers' machines, and let the worker's user reach its socket.",
        "Name a socket elsewhere in TOOLHUB_CONTAINER_SOCKET.",
    ]
    if in_machine:
        remedies.append(_MACHINES if os.path.exists("/dev/kvm") else _NO_KVM)
    return ToolHubError(
        f"This machine cannot carry out tools of the runtime {runtime}.",
        code="SANDBOX_UNAVAILABLE",
        suggestions=remedies,
        data={"probes": [{"level": runtime, "reason": reason}]},
    )


def body_of(
    image: str, entry: list[str], limits: Mapping[str, Any], run: str, machine: str | None
) -> dict[str, Any]:
    """What is asked for: no network, nothing that can be written but a folder in memory, no right, bounds."""
    memory = int(limits["memory_bytes"])
    room = f"rw,nosuid,nodev,size={int(limits['disk_bytes'])},mode=1777"
    host: dict[str, Any] = {
        "NetworkMode": "none",
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges"],
        "Memory": memory,
        # Equal to memory: there is no swap beside it.
        "MemorySwap": memory,
        "PidsLimit": int(limits["processes"]),
        "Tmpfs": {"/work": room},
        "IpcMode": "none",
        "LogConfig": {"Type": "none"},
        "Ulimits": [
            {"Name": "nofile", "Soft": limits["open_files"], "Hard": limits["open_files"]},
            {"Name": "core", "Soft": 0, "Hard": 0},
        ],
    }
    if machine:
        host["Runtime"] = machine
    return {
        "Image": image,
        **({"Cmd": entry} if entry else {}),
        "User": "65534:65534",
        "WorkingDir": "/work",
        "NetworkDisabled": True,
        "OpenStdin": True,
        "StdinOnce": True,
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "Tty": False,
        "Labels": {"toolhub.run": run},
        "HostConfig": host,
    }


def _object(said: bytes) -> dict[str, Any]:
    try:
        read = json.loads(said)
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _message(said: bytes) -> str:
    return str(_object(said).get("message", "it gave no reason"))[:500]


def _named(place: str) -> str:
    return Path(place).name
