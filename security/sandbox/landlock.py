"""Landlock (landlock(7)): a process gives up every file and TCP port but those it names."""

import errno
import os
import stat
import struct
from collections.abc import Iterable

from security.sandbox import native

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
REMOVE_DIR, REMOVE_FILE, MAKE_DIR, MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_SYM = (
    16,
    32,
    128,
    256,
    512,
    1024,
    4096,
)
REFER, TRUNCATE, IOCTL_DEV = 8192, 16384, 32768
READ = EXECUTE | READ_FILE | READ_DIR
WRITE = READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_SYM
WRITE |= REFER | TRUNCATE
DEVICE = READ_FILE | WRITE_FILE
_FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
# How many file rights each version of the interface knows; from 5 on all of them.
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
TCP_SINCE, SCOPE_SINCE, TRUNCATE_SINCE = 4, 6, 3


def landlock_version() -> int:
    """The version of the kernel's interface, 0 where it has none or it is switched off."""
    try:
        return native.syscall(_CREATE, None, 0, _VERSION)
    except OSError as error:
        if error.errno in {errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM}:
            return 0
        raise


def landlock_restrict(
    *, read: Iterable[str], write: Iterable[str], devices: Iterable[str], tcp: bool = False
) -> None:
    """Leaves this process, and all that come of it, what stands beneath these paths.

    No TCP port is left (version 4) unless `tcp` says so, nor signals and abstract sockets to processes
    outside (6).
    Paths that do not exist are left out. It needs no_new_privs.
    """
    version = landlock_version()
    handled = (1 << _RIGHTS.get(version, 16)) - 1
    fields = [handled]
    if version >= TCP_SINCE:
        fields.append(0 if tcp else 0b11)  # bind and connect
    if version >= SCOPE_SINCE:
        fields.append(0b11)  # abstract sockets and signals
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    rules = native.syscall(_CREATE, attributes, len(attributes), 0)
    try:
        for paths, rights in ((read, READ), (write, WRITE), (devices, DEVICE)):
            for path in paths:
                _allow(rules, path, rights & handled)
        native.syscall(_RESTRICT, rules, 0)
    finally:
        os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(beneath).st_mode):
            rights &= _FILE_RIGHTS
        native.syscall(_ADD, rules, _PATH_BENEATH, struct.pack("=Qi", rights, beneath), 0)
    finally:
        os.close(beneath)
