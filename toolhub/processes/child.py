"""One process of the hub under its guard: started, read line by line, started again when it ends."""

import os
import signal
import time
from contextlib import suppress

from toolhub.processes.fork import descriptors_close, forked
from toolhub.processes.guard import ASK, guard, send
from toolhub.processes.linux import session
from toolhub.processes.plan import Plan, Program

LONGEST_DELAY_S = 30.0
# A process that lived this long is well; its next restart is quick again.
HEALTHY_S = 60.0


class Child:
    """The current process of one program, or the time at which the next one starts."""

    def __init__(self, program: Program, plan: Plan) -> None:
        self.program, self.plan = program, plan
        # The guard's, and how it ended when it has.
        self.pid: int | None = None
        self.delay = 1.0
        self.failures = 0
        self.due = 0.0
        self.output = self._leash = -1
        self._status: int | None = None
        self._started = 0.0
        self._rest = b""

    def is_running(self) -> bool:
        """Looks whether the guard has ended, and keeps its status."""
        if self.pid is None or self._status is not None:
            return False
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            self._status = os.waitstatus_to_exitcode(status)
        return not pid

    def start(self) -> None:
        """Starts the program; what it says can be read from `output`."""
        leash, self._leash = os.pipe()
        self.output, says = os.pipe()

        def run() -> int:
            os.setsid()
            for ours, standard in ((leash, 0), (says, 1), (says, 2)):
                os.dup2(ours, standard)
            descriptors_close(but=self.plan.keep_open)
            return guard(self.program, self.plan.grace_s)

        self.pid, self._status = forked("guard", run), None
        os.close(leash)
        os.close(says)
        self._started = time.monotonic()
        os.set_blocking(self.output, False)

    def read(self, *, rest: bool = False) -> list[str]:
        """The whole lines that have come since; at the end the `rest` without line end, too."""
        try:
            while block := os.read(self.output, 65536):
                self._rest += block
        except BlockingIOError:
            pass
        *lines, self._rest = self._rest.split(b"\n")
        if rest and self._rest:
            lines, self._rest = [*lines, self._rest], b""
        return [line.decode(errors="replace").rstrip("\r") for line in lines]

    def ended(self) -> int:
        """The exit status of a process that has ended by itself; the next one's time is then set."""
        assert self.pid is not None  # noqa: S101
        assert self._status is not None  # noqa: S101
        self._end_session()
        os.close(self.output)
        os.close(self._leash)
        self.pid = None
        if time.monotonic() - self._started >= HEALTHY_S:
            self.delay = 1.0
        self.due = time.monotonic() + self.delay
        self.failures += 1
        return self._status

    def back_off(self) -> None:
        self.delay = min(self.delay * 2, LONGEST_DELAY_S)

    def ask_to_stop(self) -> None:
        """The first call asks politely, a second one kills."""
        if self.pid is not None and self.is_running():
            with suppress(BrokenPipeError):
                os.write(self._leash, ASK)

    def kill(self) -> None:
        """For a guard that does not end: everything in its session."""
        if self.pid is not None and self.is_running():
            self._end_session()
            send(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self._status = -signal.SIGKILL

    def _end_session(self) -> None:
        """Kills what is left of the guard's session when the guard itself was killed (Linux)."""
        assert self.pid is not None  # noqa: S101
        for member in session(self.pid):
            send(member, signal.SIGKILL)


def words(code: int) -> str:
    """How a process ended, for people."""
    number = -code if code < 0 else code - 128
    if number > 0:
        try:
            return f"ended by {signal.Signals(number).name}"
        except ValueError:
            return f"ended with status {code}"
    return f"ended with status {code}"
