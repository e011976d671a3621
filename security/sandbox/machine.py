"""What of this machine a sandbox is made from: folders that programs need, and filters."""

import functools
import os
import shutil

from security.sandbox import landlock
from security.sandbox.levels import Level
from security.sandbox.seccomp import AF_INET, AF_INET6, AF_UNIX, filter_build

# What a program needs to be started, and no more. What is a link here is the same link inside.
_TREE = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/nsswitch.conf",
)


@functools.cache
def tree() -> tuple[str, ...]:
    """The folders and files of this machine that every program may read."""
    return tuple(path for path in _TREE if os.path.lexists(path))


@functools.cache
def program_of(level: Level) -> bytes:
    """The filter of a level; empty where the level has none."""
    if level is Level.PROCESS:
        return b""
    if level is Level.ISOLATED:
        # Within its own network namespace a tool may talk to itself.
        return filter_build(families=(AF_UNIX, AF_INET, AF_INET6), signals=True, truncate=True, alone=True)
    version = landlock.landlock_version()
    return filter_build(
        families=(),
        signals=version >= landlock.SCOPE_SINCE,
        truncate=version >= landlock.TRUNCATE_SINCE,
        alone=False,
    )


def bubblewrap() -> str | None:
    """Where bubblewrap is, if it is."""
    return shutil.which("bwrap", path="/usr/local/bin:/usr/bin:/bin")
