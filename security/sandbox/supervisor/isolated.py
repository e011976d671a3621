"""The strongest level: bubblewrap, with namespaces of its own for everything and a file system made up."""

# ruff: noqa: S108 - the paths are the sandbox's own
import os

from security.sandbox.supervisor.order import Order

# Told when all is in place, and waits until it may go: limits can then be set on it from outside.
READY, GO = 8, 9
_DOOR = f'echo >&{READY}; read -r go <&{GO}; exec "$@" {READY}>&- {GO}<&-'
# The same where the program is a Python with code of the hub: its start needs no other program's before it.
_PYTHON_DOOR = (
    f"import posix; posix.write({READY}, b'.'); posix.read({GO}, 1) or posix._exit(1); "
    f"posix.close({READY}); posix.close({GO}); del posix\n"
)
USER = 1000
_PASSWD = f"tool:x:{USER}:{USER}:tool:/work:/bin/sh\n"
_GROUP = f"tool:x:{USER}:\n"
SHARED_BYTES = 16 << 20


def arguments(order: Order) -> list[str]:
    """bwrap's command line for a program, held from its first instruction on.

    It has to inherit READY and GO: a byte comes from one, a line goes to the other.
    """
    held = ["--seccomp", str(_data(order.program))]
    if not order.python:
        return [*_world(order, held), "/bin/sh", "-c", _DOOR, "tool", *order.argv]
    at = order.argv.index("-c") + 1
    code = _PYTHON_DOOR + order.argv[at]
    return [*_world(order, held), *order.argv[:at], code, *order.argv[at + 1 :]]


def zygote_arguments(order: Order, start: str) -> list[str]:
    """The same for a zygote: it may make namespaces, and holds those that it forks to the filter itself."""
    held = ["--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP"]
    return [*_world(order, held), *order.argv[: order.argv.index("-c")], "-c", start]


def _world(order: Order, own: list[str]) -> list[str]:
    """The command line up to the program. The options go through a descriptor, so that no path of this
    machine stands in a command line that the tool can read."""
    size = work_bytes(order)
    words = ["--unshare-all", "--unshare-user", "--uid", str(USER), "--gid", str(USER), "--hostname", "tool"]
    words += ["--die-with-parent", "--new-session", "--cap-drop", "ALL", *own]
    for path in order.tree:
        words += _shown(path)
    words += _file(_data(_PASSWD.encode()), "/etc/passwd") + _file(_data(_GROUP.encode()), "/etc/group")
    words += ["--proc", "/proc"] if order.proc else []
    words += ["--dev", "/dev", "--size", str(SHARED_BYTES), "--perms", "1777", "--tmpfs", "/dev/shm"]
    words += ["--size", str(size), "--perms", "0700", "--tmpfs", "/work"]
    if not any(inside.startswith("/tmp/") for _, inside, *_ in order.mounts):
        words += ["--symlink", "/work", "/tmp"]
    for host, inside, writable, _ in order.mounts:
        words += ["--bind" if writable else "--ro-bind", host, inside]
    words += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", order.cwd]
    for name, value in order.environment.items():
        words += ["--setenv", name, value]
    options = _data("\0".join(words).encode())
    return ["bwrap", "--args", str(options), "--"]


def _shown(path: str) -> list[str]:
    """The options that show a folder or file of this machine at its own place."""
    if os.path.islink(path):
        return ["--symlink", os.readlink(path), path]
    if os.path.isdir(path):
        return ["--ro-bind", path, path]
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    os.set_inheritable(descriptor, True)
    return _file(descriptor, path)


def _file(descriptor: int, inside: str) -> list[str]:
    """A copy, in the root that nobody can write to: each mount would cost a fiftieth of a start."""
    return ["--perms", "0444", "--file", str(descriptor), inside]


def work_bytes(order: Order) -> int:
    """The size of the work folder: more than may be used, so that the excess is seen."""
    return int(order.limits["disk_bytes"]) + (1 << 20)


def _data(content: bytes) -> int:
    """A descriptor that gives these bytes."""
    descriptor = os.memfd_create("data", 0)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
