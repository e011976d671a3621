"""The system call filter: a BPF program (seccomp(2)) that refuses what a tool has no business with.

Refused are the calls that Docker's default profile gives to no container without capabilities,
memory that no limit counts (memfd, System V, POSIX queues, larger socket buffers), new namespaces,
sockets of other families than asked for, and every call newer than this list. `clone3` hides its
flags in memory, so it is said not to exist and the C library falls back to `clone`.

Without namespaces of its own a tool has the worker's user, and Landlock holds what is opened, no more. So
there the filter also refuses what reaches other processes by their number, and what changes or watches files
by their name.
"""

import errno
import hashlib
import struct
from collections.abc import Collection, Iterable

from security.sandbox.syscalls import (
    BY_KIND,
    BY_NUMBER,
    CHECKED,
    MARKS,
    MODES,
    NEWEST,
    SIGNALS,
    TIMES,
    WATCHES,
    Machine,
    machine,
)

ALLOW, KILL_PROCESS, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
# struct seccomp_data: nr, arch, instruction pointer, args[6]; the low half of an argument comes first.
_NR, _ARCH, _ARGS = 0, 4, 16
_LOAD, _JUMP_EQUAL, _JUMP_ABOVE, _JUMP_BITS, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
# CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET}
_NAMESPACES = 0x7E020000
# Terminal commands that type into the terminal of whoever started the hub.
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10
_SOL_SOCKET, _SO_SNDBUF, _SO_RCVBUF = 1, 7, 8
# A signal to whom, and which, when something comes: it is sent to any process of the user.
_F_SETOWN, _F_SETSIG, _F_SETOWN_EX, _FIOSETOWN, _SIOCSPGRP = 8, 10, 15, 0x8901, 0x8902
# setpriority and ioprio_set count these kinds from 0 and from 1.
_OF_USER = {"setpriority": 2, "ioprio_set": 3}
# The bit that tells datagram sockets from streams: those send to any name, also when made as a pair.
_DATAGRAM = 2
# lsm_* and the mount queries: newer than the tables, the same number on both machines.
_NEWER_DENIED = range(457, 462)


def filter_build(
    *, families: Collection[int], signals: bool, truncate: bool, alone: bool, on: Machine | None = None
) -> bytes:
    """The program's bytes: `families` are the socket families that may be made, AF_* numbers.

    `signals` and `truncate` say whether kill(2) and truncate(2) are let through; Landlock holds them only in
    newer kernels. `alone` says that the program sees no process and no file but its own.
    """
    on = on or machine()
    held = {*CHECKED, *BY_NUMBER, *BY_KIND, *MODES, *TIMES, *MARKS, *WATCHES, *SIGNALS, "truncate"}
    denied = {number for name, number in on.numbers.items() if name not in held} | set(_NEWER_DENIED)
    for name in () if signals else SIGNALS:
        denied.add(on.numbers[name])
    if not truncate:
        denied.add(on.numbers["truncate"])
    parts = [
        _one(_LOAD, _ARCH) + _one(_JUMP_EQUAL, on.audit, 1, 0) + _one(_RETURN, KILL_PROCESS),
        _one(_LOAD, _NR) + _one(_JUMP_ABOVE, NEWEST, 0, 1) + _refuse(errno.ENOSYS),
        *(_one(_JUMP_EQUAL, number, 0, 1) + _refuse(errno.EPERM) for number in sorted(denied)),
        _one(_JUMP_EQUAL, on.numbers["clone3"], 0, 1) + _refuse(errno.ENOSYS),
        _argument(on.numbers["clone"], 0, [(_JUMP_BITS, _NAMESPACES, errno.EPERM)]),
        *([] if alone else [_others(on.numbers), _files(on.numbers)]),
        *([] if AF_UNIX in families else [_pairs(on.numbers["socketpair"])]),
        _argument(on.numbers["personality"], 0, [(_JUMP_EQUAL, 0, 0)], otherwise=errno.EPERM),
        _argument(
            on.numbers["ioctl"],
            1,
            [(_JUMP_EQUAL, _TIOCSTI, errno.EPERM), (_JUMP_EQUAL, _TIOCLINUX, errno.EPERM)],
        ),
        _argument(
            on.numbers["socket"],
            0,
            [(_JUMP_EQUAL, family, 0) for family in sorted(families)],
            otherwise=errno.EACCES,
        ),
        _buffers(on.numbers["setsockopt"]),
        _one(_RETURN, ALLOW),
    ]
    return b"".join(parts)


def filter_hash(program: bytes) -> str:
    """SHA-256 of a filter, in hex: what stands in the run and in the audit."""
    return hashlib.sha256(program).hexdigest()


def _one(code: int, value: int, true: int = 0, false: int = 0) -> bytes:
    """One instruction (struct sock_filter)."""
    return struct.pack("=HBBI", code, true, false, value)


def _refuse(number: int) -> bytes:
    return _one(_RETURN, ERRNO | number if number else ALLOW)


def _others(numbers: dict[str, int]) -> bytes:
    """Refuses what is done to processes by their number, which own threads have, too."""
    parts = [_unless(numbers[name], 0, 0) for name in BY_NUMBER]
    for name in BY_KIND:
        parts += [_unless(numbers[name], 1, 0), _if(numbers[name], 0, _OF_USER[name])]
    parts += [_if(numbers["fcntl"], 1, command) for command in (_F_SETOWN, _F_SETSIG, _F_SETOWN_EX)]
    parts += [_if(numbers["ioctl"], 1, command) for command in (_FIOSETOWN, _SIOCSPGRP)]
    return b"".join(parts)


def _files(numbers: dict[str, int]) -> bytes:
    """Modes, owners and times stay what they are, and no error is said: programs that copy files go on."""
    answers = {**dict.fromkeys(MODES + TIMES, 0), **dict.fromkeys(MARKS, errno.EOPNOTSUPP)}
    answers |= dict.fromkeys(WATCHES, errno.EACCES)
    return b"".join(
        _one(_JUMP_EQUAL, numbers[name], 0, 1) + _one(_RETURN, ERRNO | answer)
        for name, answer in answers.items()
        if name in numbers
    )


def _pairs(call: int) -> bytes:
    """Where no Unix socket may be made, a pair of them has to be streams."""
    body = _one(_LOAD, _ARGS + 8) + _one(_JUMP_BITS, _DATAGRAM, 0, 1) + _refuse(errno.EACCES)
    return _for(call, body)


def _unless(call: int, index: int, value: int) -> bytes:
    """Refuses a call whose argument is another."""
    body = _one(_LOAD, _ARGS + 8 * index) + _one(_JUMP_EQUAL, value, 1, 0) + _refuse(errno.EPERM)
    return _for(call, body)


def _if(call: int, index: int, value: int) -> bytes:
    """Refuses a call whose argument is this."""
    body = _one(_LOAD, _ARGS + 8 * index) + _one(_JUMP_EQUAL, value, 0, 1) + _refuse(errno.EPERM)
    return _for(call, body)


def _for(call: int, body: bytes) -> bytes:
    """What is done for one call; the number is there again behind it."""
    body += _one(_LOAD, _NR)
    return _one(_JUMP_EQUAL, call, 0, len(body) // 8) + body


def _buffers(call: int) -> bytes:
    """SO_SNDBUF and SO_RCVBUF change nothing and say no error, as where the machine's bound is reached."""
    return (
        _one(_LOAD, _NR)
        + _one(_JUMP_EQUAL, call, 0, 6)
        + _one(_LOAD, _ARGS + 8)
        + _one(_JUMP_EQUAL, _SOL_SOCKET, 0, 4)
        + _one(_LOAD, _ARGS + 16)
        + _one(_JUMP_EQUAL, _SO_SNDBUF, 1, 0)
        + _one(_JUMP_EQUAL, _SO_RCVBUF, 0, 1)
        + _one(_RETURN, ERRNO)
    )


def _argument(call: int, index: int, cases: Iterable[tuple[int, int, int]], otherwise: int = 0) -> bytes:
    """For one call: the first case that holds decides, as an error number or 0 for allowed."""
    body = _one(_LOAD, _ARGS + 8 * index)
    body += b"".join(_one(test, value, 0, 1) + _refuse(number) for test, value, number in cases)
    body += _refuse(otherwise)
    return _one(_LOAD, _NR) + _one(_JUMP_EQUAL, call, 0, len(body) // 8) + body
