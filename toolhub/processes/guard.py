"""Stands between the supervisor and one process of the hub, so that nothing is ever left behind.

Its standard input is a pipe whose other end only the supervisor holds: when that is killed, even with -9,
the pipe ends and the guard stops its program. It adopts orphans (PR_SET_CHILD_SUBREAPER, Linux), so that
also processes that left the group are found and ended. When the guard itself is killed, the kernel ends the
program (PR_SET_PDEATHSIG), and the supervisor the rest of the group.

SIGTERM: the program is asked to stop, and killed after the grace. A second SIGTERM: killed at once.
Exit status: the program's, or 128 + the signal that ended it.
"""

import os
import select
import signal
import time

from toolhub.processes.fork import SIGNALS, become, descriptors_close, die_with, forked
from toolhub.processes.linux import SET_CHILD_SUBREAPER, descendants, prctl
from toolhub.processes.plan import Program


def guard(program: Program, grace: float) -> int:
    """Starts the program and stays until nothing of it is left; gives its exit status.

    What the supervisor wanted this process to hold open is open; nothing else is.
    """
    prctl(SET_CHILD_SUBREAPER, 1)
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    for number in SIGNALS:
        signal.signal(number, lambda _number, _frame: None)
    pid = start(program)
    status = watch(pid, grace, wake)
    kill_all(pid)
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def start(program: Program) -> int:
    """Starts the program in a process group of its own; gives its pid."""
    above = os.getpid()

    def run() -> int:
        os.setpgid(0, 0)
        die_with(above)
        descriptors_close()
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        return become(program)

    return forked(program.name, run)


def send(pid: int, number: int, *, group: bool = False) -> None:
    """A signal to a process or its group that may be gone already."""
    try:
        (os.killpg if group else os.kill)(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def kill_all(group: int) -> None:
    """Ends the program's group and whatever it left, and waits until all are gone."""
    while True:
        send(group, signal.SIGKILL, group=True)
        for pid in descendants(os.getpid()):
            send(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def watch(pid: int, grace: float, wake: int) -> int:
    """Until the program ends or is made to; gives its wait status."""
    asked = terms = 0
    deadline = float("inf")
    inputs = [0, wake]
    while True:
        patience = None if deadline == float("inf") else max(0, deadline - time.monotonic())
        ready = select.select(inputs, [], [], patience)[0]
        if wake in ready:
            terms += sum(
                byte in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP) for byte in os.read(wake, 512)
            )
        if 0 in ready and not os.read(0, 512):
            inputs.remove(0)
            terms = max(terms, 1)
        done, status = reap(pid)
        if done:
            return status
        if terms and not asked:
            asked, deadline = 1, time.monotonic() + grace
            send(pid, signal.SIGTERM)
        if terms > 1 or time.monotonic() >= deadline:
            send(pid, signal.SIGKILL)
            deadline = float("inf")


def reap(pid: int) -> tuple[bool, int]:
    """Collects ended children, adopted ones too; whether the program is among them, and its status."""
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return True, 0
        if ended == pid:
            return True, status
        if not ended:
            return False, 0
