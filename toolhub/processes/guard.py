"""Stands between the supervisor and one process of the hub, so that nothing is ever left behind.

Its standard input is a pipe whose other end only the supervisor holds: by it that asks to stop, and when it
is killed, even with -9, the pipe ends and the guard stops its program. It adopts orphans
(PR_SET_CHILD_SUBREAPER, Linux), so that also processes that left the group are found and ended. When the
guard itself is killed, the kernel ends the program (PR_SET_PDEATHSIG), and the supervisor the rest.

Asked, or told by a signal: the program is asked to stop, and killed after the grace. Asked a second time:
killed at once. Signals are not counted: who ends a service signals each of its processes, and the supervisor
asks, too.
Exit status: the program's, or 128 + the signal that ended it.
"""

import os
import select
import signal
import time

from toolhub.processes.fork import SIGNALS, become, descriptors_close, die_with, forked
from toolhub.processes.linux import SET_CHILD_SUBREAPER, descendants, prctl
from toolhub.processes.plan import Program

# What the supervisor writes each time that it asks.
ASK = b"."


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
    asks, signalled, asked = 0, False, False
    deadline = float("inf")
    inputs = [0, wake]
    while True:
        patience = None if deadline == float("inf") else max(0, deadline - time.monotonic())
        ready = select.select(inputs, [], [], patience)[0]
        if wake in ready and any(number != signal.SIGCHLD for number in os.read(wake, 512)):
            signalled = True
        if 0 in ready:
            told = os.read(0, 512)
            asks += len(told)
            if not told:
                inputs.remove(0)
                signalled = True
        done, status = reap(pid)
        if done:
            return status
        if (asks or signalled) and not asked:
            asked, deadline = True, time.monotonic() + grace
            send(pid, signal.SIGTERM)
        if asks > 1 or time.monotonic() >= deadline:
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
