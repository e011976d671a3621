"""Runs a helper program (git, uv, npm) with bounds and an environment without secrets.

It is the only place that starts one: memory, processor time, processes, files, output and time are bounded.
"""

import enum
import os
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from core.program_bounds import NICE, Bounds, Complaints, held, over_by_signal, session_usage

LINE_MAX = 4000
# More than a package may have, so that no part of one is ever dropped.
OUTPUT_MAX = 72 * 1024 * 1024
_LOOK_S = 0.1
_MEASURE_S = 0.5
DEFAULT = Bounds()
_PASSED = ("PATH", "LANG", "LC_ALL", "TMPDIR")


class Ended(enum.Enum):
    """How a program ended."""

    WELL = "well"
    BADLY = "badly"
    LATE = "late"
    LARGE = "large"
    CANCELLED = "cancelled"
    MEMORY = "memory"
    CPU = "cpu"
    TASKS = "tasks"


OVER = {
    Ended.MEMORY: "more memory",
    Ended.CPU: "more processor time",
    Ended.TASKS: "more processes and threads",
    Ended.LARGE: "more disk",
}
"""What a program used that was ended at one of its bounds."""


def lacks_room(lines: Sequence[str]) -> bool:
    """Whether what a program said is that the disk is full (strerror of ENOSPC and EDQUOT)."""
    words = ("no space left on device", "disk quota exceeded", "os error 28", "os error 122")
    return any(word in line.lower() for line in lines for word in words)


def program_run(
    argv: Sequence[str],
    *,
    seconds: float,
    cancelled: threading.Event,
    given: bytes = b"",
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    passed: Sequence[str] = (),
    bounds: Bounds = DEFAULT,
    on_line: Callable[[str], None] | None = None,
    on_error: Callable[[str], None] | None = None,
    on_bytes: Callable[[bytes], None] | None = None,
    is_large: Callable[[], bool] | None = None,
) -> Ended:
    """Run a program to its end, or until `seconds` are over, `cancelled` is set, a bound is exceeded or
    `is_large` says that it has made too much; its group is killed then.

    It sees PATH, what `environment` gives, and variables whose names begin with one of `passed`. Its output
    goes to `on_line` line by line, or raw to `on_bytes`; its errors to `on_error`, else they are dropped.
    """
    seen = {name: value for name, value in os.environ.items() if name.startswith((*_PASSED, *passed))}
    process = subprocess.Popen(
        held(argv, bounds),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**seen, **(environment or {})},
        start_new_session=True,
    )
    with suppress(ProcessLookupError):
        os.setpriority(os.PRIO_PGRP, process.pid, NICE)
        if bounds.file_bytes is not None:
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (bounds.file_bytes, bounds.file_bytes))
    complaints = Complaints(on_error)
    hands = [
        threading.Thread(target=_feed, args=(process.stdin, given), daemon=True),
        threading.Thread(target=_drain, args=(process.stdout, on_line, on_bytes), daemon=True),
        threading.Thread(target=_drain, args=(process.stderr, complaints.take, None), daemon=True),
    ]
    for hand in hands:
        hand.start()
    try:
        ended = _wait(process, seconds, cancelled, is_large, bounds)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for hand in hands:
        hand.join(timeout=5)
    if ended is Ended.BADLY and (over := complaints.over or _over_by_end(process.returncode)):
        return Ended(over)
    return ended


def _over_by_end(code: int) -> str:
    """A shell says 128 and the number of the signal."""
    return over_by_signal(-code if code < 0 else code - 128)


def _wait(
    process: subprocess.Popen[bytes],
    seconds: float,
    cancelled: threading.Event,
    is_large: Callable[[], bool] | None,
    bounds: Bounds,
) -> Ended:
    deadline = time.monotonic() + seconds
    look = time.monotonic() + _MEASURE_S
    while True:
        with suppress(subprocess.TimeoutExpired):
            return Ended.WELL if process.wait(_LOOK_S) == 0 else Ended.BADLY
        if cancelled.is_set():
            return Ended.CANCELLED
        if time.monotonic() > deadline:
            return Ended.LATE
        if time.monotonic() >= look:
            if over := session_usage(process.pid).over(bounds):
                return Ended(over)
            if is_large and is_large():
                return Ended.LARGE
            look = time.monotonic() + _MEASURE_S


def _feed(stdin: IO[bytes], given: bytes) -> None:
    with suppress(BrokenPipeError):
        stdin.write(given)
    with suppress(BrokenPipeError):
        stdin.close()


def _drain(
    stream: IO[bytes], on_line: Callable[[str], None] | None, on_bytes: Callable[[bytes], None] | None
) -> None:
    """Reads to the end; beyond OUTPUT_MAX it is dropped, so that the program never blocks on us."""
    left = OUTPUT_MAX
    rest = b""
    while block := os.read(stream.fileno(), 65536):
        left -= len(block)
        if left < 0:
            continue
        if on_bytes:
            on_bytes(block)
        elif on_line:
            *lines, rest = (rest + block).split(b"\n")
            rest = rest[:LINE_MAX]
            for line in lines:
                on_line(line[:LINE_MAX].decode(errors="replace").rstrip("\r"))
    if on_line and rest:
        on_line(rest.decode(errors="replace"))
