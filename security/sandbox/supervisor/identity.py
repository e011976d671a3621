"""A user of its own for each run, where the supervisor is root: nobody else's files, signals or limits.

The number is free on any machine (systemd's UIDS-GIDS.md leaves this range unused) and has the
supervisor's process id in it, so that no two runs of one machine share it. Those that have a folder which
outlasts them are the folder's user: several of one session may be at work in it at once.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from security.sandbox import native

FIRST = 0x7000_0000
# Process ids end before (PID_MAX_LIMIT); so many users of folders come behind them.
_KEPT, _KEPT_MOST = FIRST + (1 << 22), 1 << 24


def identity_of(supervisor: int, mounts: "list[tuple[str, str, bool, int | None]]") -> int:
    """The user and group id of the run that this supervisor watches, with these mounts (see Order)."""
    for host, _, _, most in mounts:
        if most is not None:
            return _KEPT + os.stat(host).st_ino % _KEPT_MOST
    return FIRST + supervisor


def is_alone(user: int) -> bool:
    """Whether this user is one run's and nobody else's."""
    return FIRST <= user < _KEPT


def identity_take(user: int, needed: list[str], read_only: list[str]) -> None:
    """Makes this process that user for good, able to reach the paths that it needs. For a root process.

    Folders that are closed to others on the way to a needed path are covered, for this process and its
    children alone, by empty ones that lead to nothing else.
    """
    native.unshare(native.CLONE_NEWNS)
    native.mount("none", "/", flags=native.MS_REC | native.MS_SLAVE)
    _uncover(needed)
    for path in read_only:
        native.mount(path, path, flags=native.MS_BIND | native.MS_REC)
        flags = native.MS_BIND | native.MS_REMOUNT | native.MS_RDONLY | native.MS_NOSUID | native.MS_NODEV
        native.mount("none", path, flags=flags)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


@contextmanager
def as_user(user: int) -> Iterator[None]:
    """Within the block a root process has this real user: another's limits may be set by who is the same."""
    if os.getuid() != 0:
        yield
        return
    os.setresgid(user, -1, -1)
    os.setresuid(user, -1, -1)
    try:
        yield
    finally:
        os.setresuid(0, -1, -1)
        os.setresgid(0, -1, -1)


def _uncover(needed: list[str]) -> None:
    closed: dict[str, list[str]] = {}
    for path in needed:
        if (top := _closed_above(path)) is not None:
            closed.setdefault(top, []).append(path)
    for top, paths in closed.items():
        held = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in paths]
        native.mount("none", top, "tmpfs", native.MS_NOSUID | native.MS_NODEV, "mode=0755,size=64k")
        for path, descriptor in held:
            if stat.S_ISDIR(os.fstat(descriptor).st_mode):
                os.makedirs(path, mode=0o755, exist_ok=True)
            else:
                os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))
            native.mount(f"/proc/self/fd/{descriptor}", path, flags=native.MS_BIND | native.MS_REC)
            os.close(descriptor)


def _closed_above(path: str) -> str | None:
    """The first folder on the way to `path` that others may not pass; None when the way is open."""
    here = "/"
    for part in path.strip("/").split("/")[:-1]:
        here = os.path.join(here, part)
        if not os.stat(here).st_mode & stat.S_IXOTH:
            return here
    return None
