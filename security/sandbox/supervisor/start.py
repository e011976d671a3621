"""Starting a tool: what is done from outside until it is let go."""

import os
import resource
import select

from security.sandbox.supervisor import isolated, tree
from security.sandbox.supervisor.child import Child, limits_of
from security.sandbox.supervisor.group import Group
from security.sandbox.supervisor.identity import as_user, identity_of
from security.sandbox.supervisor.network import network_give
from security.sandbox.supervisor.order import Order
from security.sandbox.supervisor.sweep import sweep

READY_S = 20


class Refused(Exception):
    """The tool was not started: the sandbox could not be made. Says why."""


class Late(Refused):
    """It was not made in time: the machine is busy."""


class Tool:
    """A started tool: the process to wait for, the one to tell (as descriptors), our ends of its pipes.

    `first` is the first process of its own world, 0 where it has none; `group` its control group, if any.
    `work` is the work folder as an open descriptor, -1 where it cannot be looked at; `secrets` is our end of
    the pipe by which secrets go in, -1 without. `kept` are folders that outlast it, with their most bytes.
    """

    def __init__(self, pid: int, stdin: int, stdout: int, stderr: int) -> None:
        self.pid, self.stdin, self.stdout, self.stderr = pid, stdin, stdout, stderr
        self.pidfd = self.told = os.pidfd_open(pid)
        self.work = self.shared = self.secrets = -1
        self.first = 0
        self.kept: list[tuple[int, int]] = []
        self.group: Group | None = None

    def stdin_close(self) -> None:
        """Its input is at its end."""
        self.given(self.stdin)

    def given(self, descriptor: int) -> None:
        """What goes in by one of our ends is at its end."""
        os.close(descriptor)
        if descriptor == self.stdin:
            self.stdin = -1
        else:
            self.secrets = -1

    def processes(self) -> list[int]:
        """All that came of it and are there now. Of its own world it sees all, and nobody else."""
        if self.first:
            return [self.first, *tree.descendants(self.first)]
        return tree.descendants(os.getpid())

    def reaped_s(self) -> float:
        """Processor time, in seconds, of those that are gone."""
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def peak_bytes(self) -> int:
        """The most memory that a process which is gone had."""
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024

    def end(self) -> int | None:
        """Ends everything that is left; the exit code, negative for a signal."""
        if self.group:
            self.group.end()
        return sweep(self.pid)

    def group_remove(self) -> list[str]:
        """Removes its control group, when all is ended; what that held."""
        if self.group is None:
            return []
        self.group.remove()
        return self.group.holds


def tool_start(order: Order, ordered: bytes, child: Child) -> Tool:
    """Starts the program that is ordered, held at its level. Raises Refused; then nothing of it is left.

    `ordered` is the order as it came, for the child to read.
    """
    supervisor = os.getpid()
    if order.work and os.getuid() == 0 and not order.as_root:
        user = identity_of(supervisor, order.mounts)
        os.chown(order.work, user, user)
    _hand_over_kept(order, supervisor)
    tool = Tool(child.pid, child.stdin, child.stdout, child.stderr)
    if group := group_make(order, order.group):
        tool.group = group
        group.take(child.pid)
    if order.secrets:
        tool.secrets = child.secrets
    else:
        os.close(child.secrets)
    refused: Refused | None = None
    try:
        why = child.tell(ordered)
        if not why and order.level == "isolated":
            why = _let_go(order, tool, child.ready, child.go)
        refused = Refused(why) if why else None
    except Late as late:
        refused = late
    os.close(child.ready)
    os.close(child.go)
    if refused:
        tool.end()
        tool.group_remove()
        raise refused
    _folders_open(order, tool)
    return tool


def _folders_open(order: Order, tool: Tool) -> None:
    """Takes hold of the folders of this machine that are looked at while it runs."""
    for host, _, _, most in order.mounts:
        if most is not None:
            tool.kept.append((os.open(host, os.O_DIRECTORY | os.O_CLOEXEC), most))
    if order.work:
        tool.work = os.open(order.work, os.O_DIRECTORY | os.O_CLOEXEC)


def group_make(order: Order, path: str) -> "Group | None":
    """The control group of a run, bounded; None where the worker found no place for one."""
    if not path:
        return None
    limits, isolates = order.limits, order.level == "isolated"
    # There its files are in memory, and bubblewrap has two processes of its own.
    files = isolated.work_bytes(order) + isolated.SHARED_BYTES if isolates else 0
    group = Group(path, order.controllers)
    group.bound(
        memory=int(limits["memory_bytes"]) + files,
        processes=int(limits["processes"]) + (3 if isolates else 0),
        cpus=order.cpus,
    )
    return group


def _hand_over_kept(order: Order, supervisor: int) -> None:
    """Where runs have users of their own, a folder that was made, or restored, becomes its user's."""
    if os.getuid() != 0 or order.as_root:
        return
    user = identity_of(supervisor, order.mounts)
    for host, _, _, most in order.mounts:
        if most is not None and os.stat(host).st_uid != user:
            # Links are not followed (-P is what it does when it goes down).
            os.spawnv(os.P_WAIT, "/bin/chown", ["chown", "-hR", f"{user}:{user}", host])  # noqa: S606


def _let_go(order: Order, tool: Tool, ready: int, go: int) -> str:
    """Waits for bubblewrap, sets limits on what waits at its door, and opens it; or says why not."""
    if not select.select([ready], [], [], READY_S)[0]:
        raise Late(f"bubblewrap was not ready within {READY_S} s")
    if not os.read(ready, 1):
        return (
            os.read(tool.stderr, 2000).decode(errors="replace").strip() or "bubblewrap ended without a word"
        )
    inner = tree.youngest(tool.pid)
    admit(order, tool, inner)
    if why := network_give(order, inner):
        return why
    os.write(go, b"\n")
    return ""


def admit(order: Order, tool: Tool, inner: int) -> None:
    """Sets the limits of the process that waits at the door, and takes what is needed to watch it.

    Also those of the first one in there: a tool has the same user, and could reach into it.
    """
    tool.told = os.pidfd_open(inner)
    one = tree.entry(inner)
    tool.first = one.parent if one else 0
    with as_user(os.stat(f"/proc/{inner}").st_uid):
        for name, value in limits_of(order).items():
            for pid in filter(None, (inner, tool.first)):
                resource.prlimit(pid, name, (value, value))
    tool.work = os.open(f"/proc/{inner}/root/work", os.O_DIRECTORY | os.O_CLOEXEC)
    tool.shared = os.open(f"/proc/{inner}/root/dev/shm", os.O_DIRECTORY | os.O_CLOEXEC)
