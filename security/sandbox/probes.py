"""Whether a level holds on this machine: found out by running something in it, once for each process."""

import dataclasses
import functools
import json
import os
import re
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from core.errors import ToolHubError
from security.sandbox.interpreter import interpreter, interpreter_mounts
from security.sandbox.launch import Finished, Launch, Limits
from security.sandbox.levels import STRENGTH, Level
from security.sandbox.machine import bubblewrap
from security.sandbox.remedies import remedies_of
from security.sandbox.run import sandbox_run

# Says what it can see and do from inside; the level is only believed where all of it is as promised.
_LOOK = """
import ctypes, json, os, socket, sys
libc = ctypes.CDLL(None)
def can(act):
    try: act()
    except OSError: return False
    return True
print(json.dumps({
    "locked": libc.prctl(39, 0, 0, 0, 0) == 1,
    "filtered": libc.prctl(21, 0, 0, 0, 0) == 2,
    "reads": can(lambda: open(sys.argv[1]).read()),
    "writes": can(lambda: open(sys.argv[1] + ".new", "w")),
    "works": can(lambda: open("file", "w").write("x")),
    "connects": can(lambda: socket.create_connection(("127.0.0.1", int(sys.argv[2])), 2)),
    "namespaces": libc.unshare(0x10000000) == 0,
}))
"""
_HELD = {
    "locked": True,
    "filtered": True,
    "reads": False,
    "writes": False,
    "works": True,
    "connects": False,
    "namespaces": False,
}
PROMISED = {
    Level.ISOLATED: _HELD,
    Level.CONFINED: _HELD,
    Level.PROCESS: {"locked": True, "works": True},
}
_BROKEN = {
    "locked": "a program inside may gain privileges",
    "filtered": "system calls are not filtered",
    "reads": "a program inside reads a file outside",
    "writes": "a program inside writes a file outside",
    "works": "a program inside cannot write in its own work folder",
    "connects": "a program inside reaches this machine's network",
    "namespaces": "a program inside makes namespaces",
}


_PATH = re.compile(r"/(?!proc\b)[^\s:'\"]+")


@dataclass(frozen=True)
class Probe:
    """What a probe of a level found: whether it holds, else why not and what would help.

    `proc` tells whether /proc can be made inside (isolated). `took_ms` is the whole of a cold start.
    """

    level: Level
    holds: bool
    reason: str = ""
    remedies: tuple[str, ...] = ()
    proc: bool = True
    took_ms: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """The probe by name, for `doctor --json`."""
        return {**dataclasses.asdict(self), "level": self.level.value, "remedies": list(self.remedies)}


@functools.cache
def probe(level: Level) -> Probe:
    """Tries a level. The answer is kept for this process."""
    if level is Level.ISOLATED and bubblewrap() is None:
        return _failed(
            level, "bubblewrap is not installed: no program bwrap in /usr/local/bin, /usr/bin or /bin."
        )
    found = _try(level, proc=True)
    if not found.holds and level is Level.ISOLATED:
        # A container may forbid /proc alone; a sandbox without it holds as well.
        without = _try(level, proc=False)
        return without if without.holds else found
    return found


def probes() -> list[Probe]:
    """Every level's probe, the strongest first."""
    return [probe(level) for level in STRENGTH]


def level_choose(minimum: Level, *, reviewed: bool = False, why: str = "") -> Level:
    """The strongest level that this machine gives and that holds `minimum`.

    `process` is given only for a release that is marked as reviewed, behind TOOLHUB_SANDBOX_PROCESS. Raises
    ToolHubError SANDBOX_UNAVAILABLE with the probes that failed and what would help; `why` says, after a
    comma, what asks for so much.
    """
    tried = []
    for level in STRENGTH:
        if not level.holds(minimum) or (
            level is Level.PROCESS and not (reviewed and settings.SANDBOX_PROCESS)
        ):
            continue
        found = probe(level)
        if found.holds:
            return level
        tried.append(found)
    remedies = [remedy for each in tried for remedy in each.remedies]
    if minimum is Level.PROCESS:
        remedies.append(
            "The level process is for releases that are marked as reviewed, with TOOLHUB_SANDBOX_PROCESS=on."
        )
    raise ToolHubError(
        f"This machine cannot hold code at the level {minimum} or a stronger one{why and f', {why}'}.",
        code="SANDBOX_UNAVAILABLE",
        suggestions=list(dict.fromkeys(remedies)),
        data={"probes": [{"level": each.level.value, "reason": _spoken(each.reason)} for each in tried]},
    )


def _spoken(reason: str) -> str:
    """A reason for callers, who hear no path of this machine."""
    return _PATH.sub("…", reason)


def _try(level: Level, *, proc: bool) -> Probe:
    with _outside() as secret, _listener() as port:
        launch = Launch(
            argv=[interpreter(), "-I", "-S", "-c", _LOOK, str(secret), str(port)],
            level=level,
            mounts=interpreter_mounts(),
            environment={"LANG": "C.UTF-8"},
            limits=Limits(wall_s=10.0),
        )
        began = time.monotonic()
        try:
            done = sandbox_run(launch, threading.Event(), proc=proc)
        except ToolHubError as error:
            return _failed(level, str(error.data.get("why", error.message)))
        except OSError as error:  # no filter is made for such a machine
            return _failed(level, str(error))
    return _judged(done, proc, round((time.monotonic() - began) * 1000, 1))


def _judged(done: Finished, proc: bool, took_ms: float) -> Probe:
    """Compares what was found inside with what the level promises."""
    try:
        found = json.loads(done.stdout)
    except ValueError:
        said = done.log.decode(errors="replace").strip().splitlines()
        ended = f"The program inside ended with {done.exit_code} ({done.how})"
        return _failed(done.level, f"{ended}: {said[-1][:200]}" if said else f"{ended}.")
    broken = [_BROKEN[name] for name, held in PROMISED[done.level].items() if found.get(name) is not held]
    if broken:
        return _failed(done.level, f"It was made, but {'; '.join(broken)}.")
    return Probe(done.level, True, proc=proc, took_ms=took_ms)


def _failed(level: Level, reason: str) -> Probe:
    return Probe(level, False, reason[:500], remedies_of(level, reason))


@contextmanager
def _outside() -> Iterator[Path]:
    """A file that everybody may read, in a folder in which everybody may write."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "outside"
        file.write_text("outside", encoding="ascii")
        os.chmod(folder, 0o777)  # noqa: S103 - the sandbox has to refuse it, not the file's mode
        yield file


@contextmanager
def _listener() -> Iterator[int]:
    """The number of a TCP port on this machine that answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])
