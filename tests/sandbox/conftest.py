"""The cast of the tests of the sandbox: what stands outside of it, and a way to run programs inside."""

import contextlib
import dataclasses
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from security.sandbox import nursery
from security.sandbox.interpreter import interpreter, interpreter_mounts
from security.sandbox.launch import WORK, Finished, Launch, Limits, Mount
from security.sandbox.levels import Level
from security.sandbox.run import Held, sandbox_run
from security.sandbox.supervisor import tree
from security.sandbox.supervisor.nursery import WATCHES
from security.sandbox.warm import warm_clear

HERE = Path(__file__).resolve().parent
PROGRAMS = "/toolhub/programs"
Run = Callable[..., Finished]


@pytest.fixture(scope="session")
def programs_folder() -> Iterator[Path]:
    """The hostile programs in a folder of their own, as a release would be."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        copy = Path(folder) / "programs.py"
        copy.write_bytes((HERE / "programs.py").read_bytes())
        yield Path(folder)


@pytest.fixture(autouse=True)
def nothing_waits() -> Iterator[None]:
    """Programs that wait for a next call end with the test."""
    yield
    warm_clear()


@pytest.fixture
def run(programs_folder: Path) -> Run:
    """Runs Python code, or a list of words, at a level: `run(Level.CONFINED, "print(1)", wall_s=2)`.

    `forked` is code that a zygote's process runs.
    """

    def do(
        level: Level,
        code: str | list[str],
        *words: str,
        stdin: bytes = b"",
        cancelled: threading.Event | None = None,
        on_output: Callable[[bytes], None] | None = None,
        secret: bytes | None = None,
        environment: dict[str, str] | None = None,
        forked: bool = False,
        **limits: Any,
    ) -> Finished:
        argv = [interpreter(), "-I", "-S", "-c", code, *words] if isinstance(code, str) else code
        launch = Launch(
            argv=argv,
            level=level,
            stdin=stdin,
            mounts=(*interpreter_mounts(), Mount(str(programs_folder), PROGRAMS)),
            environment=environment or {"PATH": "/usr/bin:/bin", "HOME": WORK},
            limits=Limits(**limits),
            secrets=secret,
        )
        if not forked:
            return sandbox_run(launch, cancelled or threading.Event(), on_output)
        held = Held(dataclasses.replace(launch, prepare="import json"), lasts=True)
        try:
            held.go(launch)
            return held.finish(cancelled or threading.Event(), on_output)
        finally:
            held.close()

    return do


@dataclass
class World:
    """What a hostile program could get at. `seen` looks afterwards at what it did outside."""

    root: Path
    tcp: socket.socket
    udp: socket.socket
    victim: subprocess.Popen[bytes]
    secret: str
    mark: str = field(default_factory=lambda: "mark-" + secrets.token_hex(8))
    outside: list[str] = field(default_factory=list)
    grams: list[socket.socket] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    written: float = 0.0

    def as_json(self, abstract: str) -> str:
        """What the program is told."""
        return json.dumps(
            {
                "hub": str(self.root / "hub"),
                "other": str(self.root / "other"),
                "unix": str(self.root / "unix.sock"),
                "abstract": abstract,
                "outside": self.outside,
                "tcp": self.tcp.getsockname()[1],
                "udp": self.udp.getsockname()[1],
                "victim": self.victim.pid,
                "secret": self.secret,
                "mark": self.mark,
            }
        )

    def hear(self) -> None:
        """Keeps what came to the sockets with names."""
        for each in self.grams:
            each.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                self.heard.append(f"a datagram {each.recv(64)!r} by name")

    def seen(self) -> list[str]:
        """What happened outside."""
        found = [path for path in self.outside if Path(path).exists()] + self.heard
        settings = (self.root / "hub" / "settings").stat()
        if (settings.st_mode & 0o777, settings.st_mtime) != (0o666, self.written):
            found.append("the hub's file has another mode or time")
        with contextlib.suppress(BlockingIOError):
            found.append(f"a datagram {self.udp.recv(64)!r}")
        if self.victim.poll() is not None:
            found.append("the victim was killed")
        return found + [f"process {pid} lives" for pid in processes_with(self.mark)]


def processes_with(mark: str) -> list[int]:
    """The processes whose command line has this word."""
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and mark.encode() in Path("/proc", name, "cmdline").read_bytes().split(b"\0"):
                found.append(int(name))
        except OSError:
            continue
    return found


def supervisors_of(mark: str) -> list[int]:
    """The processes that watch those with this word, whoever they belong to: a spare outlives its nursery."""
    found = set()
    for pid in processes_with(mark):
        while one := tree.entry(pid):
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/comm").read_bytes().strip() == WATCHES:
                    found.add(pid)
            pid = one.parent
    return sorted(found)


def watch_kill(mark: str) -> None:
    """Kills who watches the processes with this word, and the nursery that the next one would come from."""
    watching = supervisors_of(mark)
    assert watching, f"nobody watches {mark}"
    for pid in [*watching, *(process.pid for _, process in nursery._nursery)]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def world() -> Iterator[World]:
    """All of it open to every user of the machine: what holds has to be the sandbox."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        os.chmod(root, 0o777)
        for name, file in (("hub", "settings"), ("other", "secret")):
            (root / name).mkdir()
            (root / name / file).write_text("secret\n")
            os.chmod(root / name, 0o777)
            os.chmod(root / name / file, 0o666)
        with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
            udp.bind(("127.0.0.1", 0))
            udp.setblocking(False)
            secret = "s3cr3t-" + secrets.token_hex(8)
            command = [sys.executable, "-c", "import time; time.sleep(600)", "the-victim"]
            made = World(root, tcp, udp, subprocess.Popen(command, env={"SECRET": secret}), secret)
            made.written = (root / "hub" / "settings").stat().st_mtime
            made.outside = [str(root / "hub" / "new"), str(root / "other" / "new"), str(root / "new")]
            try:
                yield made
            finally:
                made.victim.kill()
                made.victim.wait()
