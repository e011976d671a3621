"""The filter's bytes, read by a machine of our own: what each call gets on each kind of computer."""

import errno
import shutil
import struct
import subprocess

import pytest

from security.sandbox.seccomp import AF_INET, AF_UNIX, ALLOW, ERRNO, KILL_PROCESS, filter_build
from security.sandbox.syscalls import MARKS, MODES, NUMBERS, TIMES, machine

MACHINES = pytest.mark.parametrize("name", sorted(NUMBERS))


def answer(program: bytes, audit: int, call: int, *arguments: int) -> int:
    """What a filter says of a call: classic BPF over struct seccomp_data (seccomp(2))."""
    data = struct.pack("=IIQ6Q", call & 0xFFFFFFFF, audit, 0, *(*arguments, *[0] * 6)[:6])
    code = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    at = held = 0
    while True:
        operation, true, false, value = code[at]
        at += 1
        if operation == 0x20:
            (held,) = struct.unpack_from("=I", data, value)
        elif operation == 0x06:
            return int(value)
        else:
            holds = {0x15: held == value, 0x25: held > value, 0x45: bool(held & value)}[operation]
            at += true if holds else false


def built(name: str, **members: object) -> bytes:
    given = {"families": (AF_UNIX, AF_INET), "signals": True, "truncate": True, "alone": True, **members}
    return filter_build(**given, on=machine(name))  # type: ignore[arg-type]


@MACHINES
def test_calls_get_the_answer_that_they_should(name: str) -> None:
    on, program = machine(name), built(name)

    def of(call: str | int, *arguments: int) -> int:
        return answer(program, on.audit, on.numbers[call] if isinstance(call, str) else call, *arguments)

    refused = ERRNO | errno.EPERM
    for call in ("ptrace", "bpf", "mount", "unshare", "setns", "keyctl", "memfd_create", "io_uring_setup"):
        assert of(call) == refused, call
    assert of("clone3") == ERRNO | errno.ENOSYS
    assert of("clone", 17) == ALLOW
    assert of("clone", 0x10000000 | 17) == refused
    assert of("personality", 0) == ALLOW
    assert of("personality", 0xFFFFFFFF) == refused
    assert of("ioctl", 0, 0x5412) == refused
    assert of("ioctl", 0, 0x5401) == ALLOW
    assert of("socket", AF_INET) == ALLOW
    assert of("socket", 16) == ERRNO | errno.EACCES
    assert of("kill") == of("truncate") == ALLOW
    assert of(463) == of(0x40000000) == ERRNO | errno.ENOSYS
    # read, write, openat and exit_group are what every program needs.
    for call in {"x86_64": (0, 1, 257, 231), "aarch64": (63, 64, 56, 94)}[name]:
        assert of(call) == ALLOW, call
    assert answer(program, 0x40000003, 0) == KILL_PROCESS, "a 32-bit call"


@MACHINES
def test_what_landlock_does_not_hold_is_refused_by_the_filter(name: str) -> None:
    on, program = machine(name), built(name, families=(), signals=False, truncate=False)
    for call in ("kill", "tgkill", "pidfd_send_signal", "truncate"):
        assert answer(program, on.audit, on.numbers[call]) == ERRNO | errno.EPERM
    assert answer(program, on.audit, on.numbers["socket"], AF_UNIX) == ERRNO | errno.EACCES


@MACHINES
def test_without_namespaces_others_are_not_reached_by_number_or_name(name: str) -> None:
    on = machine(name)
    held, alone = built(name, families=(), alone=False), built(name)
    refused, quiet = ERRNO | errno.EPERM, ERRNO
    # By hand: a call, its arguments, and what it gets.
    rows: list[tuple[str, tuple[int, ...], int]] = [
        ("prlimit64", (0, 7), ALLOW),
        ("prlimit64", (4711, 7), refused),
        ("sched_setaffinity", (0,), ALLOW),
        ("sched_setaffinity", (4711,), refused),
        ("sched_setattr", (1,), refused),
        ("setpriority", (0, 0), ALLOW),
        ("setpriority", (0, 4711), refused),
        ("setpriority", (2, 0), refused),
        ("ioprio_set", (1, 0), ALLOW),
        ("ioprio_set", (3, 0), refused),
        ("fcntl", (3, 2), ALLOW),
        ("fcntl", (3, 8), refused),
        ("fcntl", (3, 10), refused),
        ("fcntl", (3, 15), refused),
        ("ioctl", (3, 0x8901), refused),
        ("ioctl", (3, 0x5401), ALLOW),
        ("ioctl", (3, 0x5412), refused),
        ("socketpair", (AF_UNIX, 1 | 0x80000), ALLOW),
        ("socketpair", (AF_UNIX, 5), ALLOW),
        ("socketpair", (AF_UNIX, 2 | 0x800), ERRNO | errno.EACCES),
        ("socketpair", (AF_UNIX, 3), ERRNO | errno.EACCES),
        ("inotify_add_watch", (3,), ERRNO | errno.EACCES),
        *((call, (), quiet) for call in (*MODES, *TIMES) if call in on.numbers),
        *((call, (), ERRNO | errno.EOPNOTSUPP) for call in MARKS),
    ]
    for call, arguments, expected in rows:
        assert answer(held, on.audit, on.numbers[call], *arguments) == expected, (call, arguments)
        if call != "ioctl":
            assert answer(alone, on.audit, on.numbers[call], *arguments) == ALLOW, call


def test_an_unknown_machine_has_no_filter() -> None:
    with pytest.raises(OSError, match="riscv64"):
        machine("riscv64")


@MACHINES
def test_the_numbers_are_those_of_libseccomp(name: str) -> None:
    resolver = shutil.which("scmp_sys_resolver")
    if resolver is None:
        pytest.skip("no program scmp_sys_resolver on PATH (Debian: seccomp)")
    for call, number in NUMBERS[name].items():
        said = subprocess.run([resolver, "-a", name, call], capture_output=True, text=True, check=True)
        assert int(said.stdout) == number, call
