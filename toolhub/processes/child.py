"""One process of the hub under its guard: started, read line by line, started again when it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from toolhub.processes.plan import Plan, Program

GUARD = Path(__file__).with_name("guard.py")
LONGEST_DELAY_S = 30.0
# A process that lived this long is well; its next restart is quick again.
HEALTHY_S = 60.0


class Child:
    """The current process of one program, or the time at which the next one starts."""

    def __init__(self, program: Program, plan: Plan) -> None:
        self.program, self.plan = program, plan
        self.process: subprocess.Popen[bytes] | None = None
        self.delay = 1.0
        self.failures = 0
        self.due = 0.0
        self.started = 0.0
        self._rest = b""

    def start(self) -> int:
        """Starts the program; gives the file descriptor of its output."""
        guard = [sys.executable, "-I", "-S", str(GUARD), str(self.plan.grace_s)]
        self.process = subprocess.Popen(
            [*guard, *self.program.command],
            env={**os.environ, **self.program.env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=self.plan.keep_open,
            start_new_session=True,
            bufsize=0,
        )
        self.started = time.monotonic()
        assert self.process.stdout is not None  # noqa: S101
        os.set_blocking(self.process.stdout.fileno(), False)
        return self.process.stdout.fileno()

    def read(self, *, rest: bool = False) -> list[str]:
        """The whole lines that have come since; at the end the `rest` without line end, too."""
        if self.process is None or self.process.stdout is None:
            return []
        while block := self.process.stdout.read(65536):
            self._rest += block
        *lines, self._rest = self._rest.split(b"\n")
        if rest and self._rest:
            lines, self._rest = [*lines, self._rest], b""
        return [line.decode(errors="replace").rstrip("\r") for line in lines]

    def ended(self) -> int | None:
        """The exit status when the process has ended by itself, and the next one's time is then set."""
        if self.process is None or (code := self.process.poll()) is None:
            return None
        end_session(self.process.pid)
        self._close()
        if time.monotonic() - self.started >= HEALTHY_S:
            self.delay = 1.0
        self.due = time.monotonic() + self.delay
        self.failures += 1
        return code

    def back_off(self) -> None:
        self.delay = min(self.delay * 2, LONGEST_DELAY_S)

    def ask_to_stop(self) -> None:
        """The first call asks politely, a second one kills."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """For a guard that does not end: everything in its session."""
        if self.process is not None and self.process.poll() is None:
            end_session(self.process.pid)
            self.process.kill()
            self.process.wait()

    def _close(self) -> None:
        if self.process is not None:
            for stream in (self.process.stdin, self.process.stdout):
                if stream is not None:
                    stream.close()
        self.process = None


def end_session(session: int) -> None:
    """Kills what is left of a guard's session when the guard itself was killed (Linux)."""
    for name in os.listdir("/proc") if sys.platform.startswith("linux") else ():
        try:
            if name.isdigit() and int(name) != session and os.getsid(int(name)) == session:
                os.kill(int(name), signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def words(code: int) -> str:
    """How a process ended, for people."""
    number = -code if code < 0 else code - 128
    if number > 0:
        try:
            return f"ended by {signal.Signals(number).name}"
        except ValueError:
            return f"ended with status {code}"
    return f"ended with status {code}"
