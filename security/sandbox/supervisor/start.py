"""Starting a tool: its pipes, its limits, and what it becomes before it is let go."""

import errno
import fcntl
import os
import resource
import select
import signal

from security.sandbox import landlock, native
from security.sandbox.supervisor import isolated, tree
from security.sandbox.supervisor.identity import as_user, identity_of, identity_take
from security.sandbox.supervisor.network import listener_give
from security.sandbox.supervisor.order import Order
from security.sandbox.supervisor.sweep import sweep

SECRETS = 3
READY_S = 20
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# Files may grow by so much more than the work folder may hold, so that the excess can be seen.
SLACK = 1 << 20


class Refused(Exception):
    """The tool was not started: the sandbox could not be made. Says why."""


class Tool:
    """A started tool: the process to wait for, the one to tell (as descriptors), our ends of its pipes.

    `work` is the work folder as an open descriptor, -1 where it cannot be looked at; `secrets` is our end of
    the pipe by which secrets go in, -1 without. `kept` are folders that outlast it, with their most bytes.
    """

    def __init__(self, pid: int, stdin: int, stdout: int, stderr: int) -> None:
        self.pid, self.stdin, self.stdout, self.stderr = pid, stdin, stdout, stderr
        self.pidfd = self.told = os.pidfd_open(pid)
        self.work = self.shared = self.secrets = -1
        self.kept: list[tuple[int, int]] = []

    def stdin_close(self) -> None:
        """Its input is at its end."""
        os.close(self.stdin)
        self.stdin = -1

    def processes(self) -> list[int]:
        """All that came of it and are there now."""
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
        return sweep(self.pid)


def tool_start(order: Order) -> Tool:
    """Starts the program that is ordered, held at its level. Raises Refused; then nothing of it is left."""
    ours_in, ours_out, ours_err = os.pipe(), os.pipe(), os.pipe()
    ready, go, failed = os.pipe(), os.pipe(), os.pipe()
    hidden = os.pipe() if order.secrets else (-1, -1)
    supervisor = os.getpid()
    if order.work and os.getuid() == 0 and not order.as_root:
        os.chown(order.work, identity_of(supervisor), identity_of(supervisor))
    _hand_over_kept(order, supervisor)
    pid = os.fork()
    if pid == 0:
        try:
            _become(order, supervisor, (ours_in[0], ours_out[1], ours_err[1]), ready[1], go[0], hidden[0])
        except Exception as error:  # noqa: BLE001 - the process ends here; whatever it was is told
            os.write(failed[1], f"{type(error).__name__}: {error}".encode()[:2000])
        finally:
            os._exit(125)
    for descriptor in (ours_in[0], ours_out[1], ours_err[1], ready[1], go[0], failed[1]):
        os.close(descriptor)
    tool = Tool(pid, ours_in[1], ours_out[0], ours_err[0])
    for host, _, _, most in order.mounts:
        if most is not None:
            tool.kept.append((os.open(host, os.O_DIRECTORY | os.O_CLOEXEC), most))
    if order.secrets:
        os.close(hidden[0])
        tool.secrets = hidden[1]
    why = os.read(failed[0], 2000).decode(errors="replace")
    os.close(failed[0])
    if not why and order.level == "isolated":
        why = _let_go(order, tool, ready[0], go[1])
    elif not why and order.work:
        tool.work = os.open(order.work, os.O_DIRECTORY | os.O_CLOEXEC)
    os.close(ready[0])
    os.close(go[1])
    if why:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise Refused(why)
    return tool


def _hand_over_kept(order: Order, supervisor: int) -> None:
    """Where each run has a user of its own, what a folder kept from earlier ones becomes this one's."""
    if os.getuid() != 0 or order.as_root:
        return
    user = f"{identity_of(supervisor)}:{identity_of(supervisor)}"
    for host, _, _, most in order.mounts:
        if most is not None:
            # Links are not followed (-P is what it does when it goes down).
            os.spawnv(os.P_WAIT, "/bin/chown", ["chown", "-hR", user, host])  # noqa: S606


def _let_go(order: Order, tool: Tool, ready: int, go: int) -> str:
    """Waits for bubblewrap, sets limits on what waits at its door, and opens it; or says why not."""
    if not select.select([ready], [], [], READY_S)[0]:
        return f"bubblewrap was not ready within {READY_S} s"
    if not os.read(ready, 1):
        return (
            os.read(tool.stderr, 2000).decode(errors="replace").strip() or "bubblewrap ended without a word"
        )
    inner = tree.youngest(tool.pid)
    admit(order, tool, inner)
    if order.network >= 0 and (number := listener_give(inner, order.network)):
        return f"no way to the network could be made: {os.strerror(number)}"
    os.write(go, b"\n")
    return ""


def admit(order: Order, tool: Tool, inner: int) -> None:
    """Sets the limits of the process that waits at the door, and takes what is needed to watch it."""
    tool.told = os.pidfd_open(inner)
    with as_user(os.stat(f"/proc/{inner}").st_uid):
        for name, value in limits_of(order).items():
            resource.prlimit(inner, name, (value, value))
    tool.work = os.open(f"/proc/{inner}/root/work", os.O_DIRECTORY | os.O_CLOEXEC)
    tool.shared = os.open(f"/proc/{inner}/root/dev/shm", os.O_DIRECTORY | os.O_CLOEXEC)


def limits_of(order: Order) -> dict[int, int]:
    """The limits that the kernel holds each single process to (setrlimit(2))."""
    limits = order.limits
    memory, disk = int(limits["memory_bytes"]), int(limits["disk_bytes"])
    held = {
        # Not 0: the kernel would still start the program that core_pattern may name (coredump.c).
        resource.RLIMIT_CORE: 1,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_FSIZE: disk + SLACK,
        resource.RLIMIT_NOFILE: int(limits["open_files"]),
        # Twice and some: a process that grows past its bound within one look is stopped by the kernel.
        resource.RLIMIT_DATA: 2 * memory + (256 << 20),
    }
    if cpu := limits.get("cpu_ms"):
        held[resource.RLIMIT_CPU] = int(cpu) // 1000 + 2
    processes = int(limits["processes"])
    if order.level != "isolated" and os.getuid() < 0x7000_0000:
        processes += tree.count_of_user(os.getuid())  # the kernel counts all that this user runs
    return {**held, resource.RLIMIT_NPROC: processes}


def _become(
    order: Order, supervisor: int, streams: tuple[int, int, int], ready: int, go: int, secrets: int
) -> None:
    """In the child: takes its place, gives up what it must not have, and becomes the program."""
    os.setsid()
    isolates = order.level == "isolated"
    places = dict(enumerate(streams))
    if isolates:
        places |= {isolated.READY: ready, isolated.GO: go}
    if order.secrets:
        places[SECRETS] = secrets
        order.environment["TOOLHUB_SECRETS_FD"] = str(SECRETS)
    moved = {
        number: fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 30) for number, descriptor in places.items()
    }
    for number, descriptor in moved.items():
        os.dup2(descriptor, number)
    if os.getuid() == 0 and not order.as_root:
        mounts = [host for host, *_ in order.mounts]
        read_only = [] if isolates else [host for host, _, writable, _ in order.mounts if not writable]
        identity_take(identity_of(supervisor), [*mounts, *([order.work] if order.work else [])], read_only)
    native.prctl(native.PR_SET_PDEATHSIG, signal.SIGKILL)
    if isolates:
        words = isolated.arguments(order)
        # Not looked for on a path: that imports modules, whose files may be out of reach by now.
        os.execve(order.bubblewrap, words, {})  # noqa: S606
    os.chdir(order.cwd)
    for name, value in limits_of(order).items():
        resource.setrlimit(name, (value, value))
    native.prctl(native.PR_SET_NO_NEW_PRIVS, 1)
    if order.level == "confined":
        read = [*order.tree, *(host for host, _, writable, _ in order.mounts if not writable)]
        write = [order.work, *(host for host, _, writable, _ in order.mounts if writable)]
        landlock.landlock_restrict(read=read, write=write, devices=_DEVICES)
        native.seccomp_load(order.program)
    try:
        os.execve(order.argv[0], order.argv, order.environment)  # noqa: S606
    except OSError as error:
        # The sandbox is well; it is the program that cannot be run. Said as a shell says it.
        os.write(2, f"{order.argv[0]}: {error.strerror}\n".encode())
        os._exit(127 if error.errno == errno.ENOENT else 126)
