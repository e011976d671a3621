"""The bounds of a helper program: what each of its processes may have, and what all of them have together.

Limits of the kernel (setrlimit) are set by the shell that becomes the program, so that no child can be
started before them. Memory is bounded by RLIMIT_DATA, which counts what a process allocates: RLIMIT_AS would
also count packs that git maps and address space that uv and Node only reserve. Control groups are not on
every machine, and a worker may have none to give. All processes together are counted from /proc.
"""

import os
import re
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

MIB = 1 << 20
NICE = 5
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
# Soft first: the program is told (SIGXCPU) before it is killed. KiB, seconds, seconds.
_HELD = 'ulimit -c 0 && ulimit -d "$1" && ulimit -S -t "$2" && ulimit -H -t "$3" && shift 3 && exec "$@"'
_NO_MEMORY = re.compile(
    r"out of memory|memory exhausted|cannot allocate memory|memory allocation of .{0,40} failed|MemoryError",
    re.IGNORECASE,
)
_FILE_LARGE = re.compile(r"file too large|File size limit exceeded", re.IGNORECASE)
_SIGNAL = re.compile(r"(?:died of|by|with) signal (\d+)")


@dataclass(frozen=True)
class Bounds:
    """`memory_bytes` and `cpu_s` (seconds of a processor) hold for each process and for all together.

    `tasks` counts processes and their threads; `file_bytes` is the longest file that may be written.
    """

    memory_bytes: int = 256 * MIB
    cpu_s: int = 60
    tasks: int = 32
    file_bytes: int | None = None


@dataclass(frozen=True)
class Usage:
    """What the processes of a session use: resident bytes, seconds of a processor, processes and threads."""

    memory_bytes: int = 0
    cpu_s: float = 0.0
    tasks: int = 0

    def over(self, bounds: Bounds) -> str:
        """The bound that is exceeded: memory, cpu or tasks; empty for none."""
        if self.memory_bytes > bounds.memory_bytes:
            return "memory"
        if self.cpu_s > bounds.cpu_s:
            return "cpu"
        return "tasks" if self.tasks > bounds.tasks else ""


def held(argv: Sequence[str], bounds: Bounds) -> list[str]:
    """The command line of a program that starts with the limits of its bounds."""
    numbers = (bounds.memory_bytes // 1024, bounds.cpu_s, bounds.cpu_s + 5)
    return ["/bin/sh", "-c", _HELD, "sh", *map(str, numbers), *argv]


def session_usage(session: int) -> Usage:
    """What all live processes of a session use now (proc(5), stat)."""
    memory, ticks, tasks = 0, 0, 0
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            words = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(words[3]) == session:
            ticks += int(words[11]) + int(words[12])
            tasks += int(words[17])
            memory += int(words[21]) * _PAGE
    return Usage(memory, ticks / _TICKS, tasks)


class Complaints:
    """Reads what a program says on its standard error for the bound that it ran into."""

    def __init__(self, on_line: Callable[[str], None] | None) -> None:
        self._on_line = on_line
        self.over = ""

    def take(self, line: str) -> None:
        """One line. A parent names the signal that its child died of."""
        # A server that git speaks to tells of itself.
        if not line.startswith("remote:"):
            self.over = self.over or _over_by_words(line)
        if self._on_line:
            self._on_line(line)


def _over_by_words(line: str) -> str:
    if _NO_MEMORY.search(line):
        return "memory"
    if _FILE_LARGE.search(line):
        return "large"
    found = _SIGNAL.search(line)
    return over_by_signal(int(found[1])) if found else ""


def over_by_signal(number: int) -> str:
    """The bound that a signal tells of; empty for another signal."""
    return {int(signal.SIGXCPU): "cpu", int(signal.SIGXFSZ): "large"}.get(number, "")
