"""The process that becomes a tool. It is forked before its order is known, which makes a start quicker."""

import errno
import fcntl
import os
import resource
import signal

from security.sandbox import landlock, native
from security.sandbox.supervisor import isolated, tree
from security.sandbox.supervisor.identity import identity_of, identity_take, is_alone
from security.sandbox.supervisor.order import Order, order_read, order_take

SECRETS = 3
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# Files may grow by so much more than the work folder may hold, so that the excess can be seen.
SLACK = 1 << 20


class Child:
    """Our ends of its pipes, and its process id.

    `ready` tells that it waits at the door of its sandbox, `go` lets it in, `failed` says why it could not be
    made. `closed` are descriptors of this process that are not for it.
    """

    def __init__(self, closed: tuple[int, ...] = ()) -> None:
        told, stdin, go, secrets = os.pipe(), os.pipe(), os.pipe(), os.pipe()
        stdout, stderr, ready, failed = os.pipe(), os.pipe(), os.pipe(), os.pipe()
        into, out = (told, stdin, go, secrets), (stdout, stderr, ready, failed)
        supervisor = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            native.prctl(native.PR_SET_PDEATHSIG, signal.SIGKILL)
            for each in (*closed, *(ours for _, ours in into), *(ours for ours, _ in out)):
                os.close(each)
            _live(supervisor, tuple(theirs for theirs, _ in into), tuple(theirs for _, theirs in out))
        for each in (*(theirs for theirs, _ in into), *(theirs for _, theirs in out)):
            os.close(each)
        self.told, self.stdin, self.go, self.secrets = (ours for _, ours in into)
        self.stdout, self.stderr, self.ready, self.failed = (ours for ours, _ in out)

    def tell(self, order: bytes) -> str:
        """Lets it become what is ordered; why it could not, or nothing. Raises OSError where it is gone."""
        while order:
            order = order[os.write(self.told, order) :]
        os.close(self.told)
        why = os.read(self.failed, 2000).decode(errors="replace")
        os.close(self.failed)
        return why

    def dismiss(self) -> None:
        """It is not wanted."""
        pipes = (self.told, self.stdin, self.go, self.secrets)
        for each in (*pipes, self.stdout, self.stderr, self.ready, self.failed):
            os.close(each)
        os.waitpid(self.pid, 0)


def _live(supervisor: int, into: tuple[int, ...], out: tuple[int, ...]) -> None:
    """In the child, from its first moment to its last as this program."""
    told, stdin, go, secrets = into
    stdout, stderr, ready, failed = out
    try:
        order = order_read(order_take(told))
        os.close(told)
        _become(order, supervisor, (stdin, stdout, stderr), ready, go, secrets)
    except EOFError:
        pass  # it is not wanted
    except Exception as error:  # noqa: BLE001 - the process ends here; whatever it was is told
        os.write(failed, f"{type(error).__name__}: {error}".encode()[:2000])
    finally:
        os._exit(125)


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
    if order.level != "isolated" and not is_alone(os.getuid()):
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
        user = identity_of(supervisor, order.mounts)
        identity_take(user, [*mounts, *([order.work] if order.work else [])], read_only)
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
