"""Stands between the supervisor and one process of the hub, so that nothing is ever left behind.

Run as a script of its own (no Django, few imports): `guard.py GRACE_SECONDS COMMAND…`. Its standard
input is a pipe whose other end only the supervisor holds: when that is killed, even with -9, the
pipe ends and the guard stops its command. It adopts orphans (PR_SET_CHILD_SUBREAPER, Linux), so that
also processes that left the group are found and ended. When the guard itself is killed, the kernel
ends the command (PR_SET_PDEATHSIG), and the supervisor the rest of the group.

SIGTERM: the command is asked to stop, and killed after the grace. A second SIGTERM: killed at once.
Exit status: the command's, or 128 + the signal that ended it.
"""

import ctypes
import os
import select
import signal
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LINUX = sys.platform.startswith("linux")


def prctl(option: int, value: int) -> None:
    """Linux prctl(2); nothing elsewhere."""
    if LINUX and ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl failed")


def start(command: list[str]) -> int:
    """Starts the command in a process group of its own; gives its pid."""
    guard = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setpgid(0, 0)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != guard:
            os._exit(1)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.closerange(3, 256)
        os.execvp(command[0], command)  # noqa: S606
    except OSError as error:
        os.write(2, f"{command[0]} cannot be started: {error.strerror}\n".encode())
    os._exit(127)


def descendants(root: int) -> list[int]:
    """Every process below `root`, from /proc; empty where there is none."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if LINUX else ():
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(name))
    found, level = [], [root]
    while level:
        level = [child for parent in level for child in children.get(parent, ())]
        found += level
    return found


def send(pid: int, number: int, *, group: bool = False) -> None:
    """A signal to a process or its group that may be gone already."""
    try:
        (os.killpg if group else os.kill)(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def kill_all(group: int) -> None:
    """Ends the command's group and whatever it left, and waits until all are gone."""
    while True:
        send(group, signal.SIGKILL, group=True)
        for pid in descendants(os.getpid()):
            send(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def watch(pid: int, grace: float, wake: int) -> int:
    """Until the command ends or is made to; gives its wait status."""
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
    """Collects ended children, adopted ones too; whether the command is among them, and its status."""
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return True, 0
        if ended == pid:
            return True, status
        if not ended:
            return False, 0


def main(arguments: list[str]) -> int:
    grace, command = float(arguments[0]), arguments[1:]
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, lambda _number, _frame: None)
    pid = start(command)
    status = watch(pid, grace, wake)
    kill_all(pid)
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
