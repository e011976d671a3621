"""A program of the hub's own that reads what strangers send, held by Landlock; it keeps its network.

It is for uv, which gets wheels from an index and runs nothing of them. The sandbox's levels are for code of
others.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from security.sandbox import landlock, native

_START = "import sys; sys.path.insert(0, sys.argv[1]); from security.sandbox.fence import main; main()"
_ROOT = Path(__file__).resolve().parents[2]
_MACHINE = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
# How names are looked up, and whom to trust.
_NETWORK = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf")
_MORE = (
    "/etc/ssl",
    "/etc/pki",
    "/etc/ca-certificates",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/os-release",
)
_DEVICES = ("/dev/null", "/dev/random", "/dev/urandom")


def fenced(argv: Sequence[str], *, read: Iterable[str], write: Iterable[str]) -> list[str]:
    """The command line of a program that reads and writes nothing but these and what every program needs.

    Where the kernel has no Landlock it is the program's own: the doctor says so.
    """
    if not landlock.landlock_version():
        return list(argv)
    base = [sys.executable, "-I", "-S", "-c", _START, str(_ROOT)]
    given = [("r", os.path.dirname(os.path.realpath(argv[0]))), *(("r", path) for path in read)]
    given += [("w", path) for path in write]
    return [*base, *(kind + path for kind, path in given), "--", *argv]


def main() -> None:
    """Gives up the rest, and becomes the program."""
    end = sys.argv.index("--")
    places, argv = sys.argv[2:end], sys.argv[end + 1 :]
    own = [os.path.realpath(path) for path in (*_MACHINE, *_NETWORK, *_MORE)]
    native.prctl(native.PR_SET_NO_NEW_PRIVS, 1)
    landlock.landlock_restrict(
        read=[*own, *(each[1:] for each in places if each[0] == "r")],
        write=[each[1:] for each in places if each[0] == "w"],
        devices=_DEVICES,
        tcp=True,
    )
    os.execv(argv[0], argv)  # noqa: S606
