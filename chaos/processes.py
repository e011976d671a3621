"""The hub's processes for fault tests: real web, worker and steward, each in a group of its own."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.server import ROOT, free_port
from toolhub.processes import programs
from toolhub.processes.linux import descendants
from toolhub.processes.plan import Program

Process = subprocess.Popen[bytes]
GRACE_S = 10.0
# A start is waited for as long as the process lives, and no longer than this.
START_S = 900.0


class Processes:
    """Starts the hub's processes as `manage.py up` does, but without its supervisor, and ends all of them."""

    def __init__(self, env: Mapping[str, str], log: Path | None = None) -> None:
        self.env, self._log = dict(env), log
        self._started: list[Process] = []

    def start(self, program: Program, env: Mapping[str, str] | None = None) -> Process:
        """Starts a program; `env` comes on top of everybody's."""
        log = self._log.open("ab") if self._log else None
        process = subprocess.Popen(
            program.command,
            cwd=ROOT,
            env={**self.env, **program.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        if log:
            log.close()
        self._started.append(process)
        return process

    def worker(self, concurrency: int = 1, **env: str) -> Process:
        """A worker that carries out so many runs at once."""
        return self.start(programs.worker(concurrency=concurrency, log_level="WARNING"), env)

    def steward(self, **env: str) -> Process:
        return self.start(programs.steward(), env)

    def web(self, *, port: int = 0, workers: int = 1, threads: int = 4, **env: str) -> tuple[Process, str]:
        """A web process, and its address once it answers."""
        port = port or free_port()
        process = self.start(programs.web("127.0.0.1", port, workers=workers, threads=threads), env)
        address = f"http://127.0.0.1:{port}"
        await_answer(process, address)
        return process, address

    def up(self, port: int, **env: str) -> Process:
        """The whole hub by `manage.py up`: a supervisor with a guard for each program, once it answers."""
        program = Program("up", [sys.executable, "manage.py", "up", "--port", str(port)])
        process = self.start(program, env)

        def begun() -> bool:
            nonlocal process
            if process.poll() is not None:  # the database is away: whoever looks after services tries again
                self._started.remove(process)
                process = self.start(program, env)
            return answers(f"http://127.0.0.1:{port}/livez")

        wait_for(begun, START_S, "the answer of manage.py up", every=0.5)
        return process

    def signal(self, process: Process, number: signal.Signals) -> None:
        """Sends a signal to a process and its whole group."""
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)

    def kill(self, process: Process) -> None:
        """Ends a process and its whole group at once."""
        self.signal(process, signal.SIGKILL)
        process.wait(GRACE_S)
        if process in self._started:
            self._started.remove(process)

    def end_all(self) -> None:
        """Ends everything that was started, at once."""
        for process in list(self._started):
            self.kill(process)


def await_answer(process: Process, address: str) -> None:
    """Return once a web process answers. Raises AssertionError when it ends first, or after START_S."""

    def begun() -> bool:
        if process.poll() is not None:
            raise AssertionError(
                f"the process for {address} ended with {process.returncode} before it answered"
            )
        return answers(f"{address}/livez")

    wait_for(begun, START_S, f"the answer of {address}/livez")


def children(process: Process) -> list[int]:
    """The processes below one of the hub's: a worker's pool, or what serves for a web process."""
    return descendants(process.pid)


def is_alive(pid: int) -> bool:
    """Whether a process is there and not only waits to be collected."""
    return _stat(pid)[:1] not in ([], ["Z"])


def parent_of(pid: int) -> int:
    """The process above one; 0 where there is none."""
    return int((_stat(pid) or ["", "0"])[1])


def _stat(pid: int) -> list[str]:
    """State and parent of a process, from proc(5); nothing where it is gone."""
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        )
    except OSError:
        return []


def manage(env: Mapping[str, str], *words: str, patience_s: float = 300.0) -> str:
    """What a command of manage.py says. Raises CalledProcessError with its output when it fails."""
    command = [sys.executable, "manage.py", *words]
    done = subprocess.run(
        command, cwd=ROOT, env=dict(env), check=True, capture_output=True, text=True, timeout=patience_s
    )
    return done.stdout


def answers(address: str) -> bool:
    """Whether a web process answers there."""
    try:
        with urllib.request.urlopen(address, timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def wait_for(
    true: Callable[[], Any],
    seconds: float = 30.0,
    what: str = "what was waited for",
    every: float = 0.05,
) -> Any:
    """What `true` gives once it is true. Raises AssertionError when that takes too long."""
    ends = time.monotonic() + seconds
    while not (found := true()):
        if time.monotonic() > ends:
            raise AssertionError(f"{what} did not come within {seconds} s")
        time.sleep(every)
    return found
