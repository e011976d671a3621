"""Runs a program of ours (git, uv) with bounds: time, output, cancel, and an environment without secrets."""

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

LINE_MAX = 4000
# More than a package may have, so that no part of one is ever dropped.
OUTPUT_MAX = 72 * 1024 * 1024
_LOOK_S = 0.1
_MEASURE_S = 0.5
_PASSED = ("PATH", "LANG", "LC_ALL", "TMPDIR")


class Ended(enum.Enum):
    """How a program ended."""

    WELL = "well"
    BADLY = "badly"
    LATE = "late"
    LARGE = "large"
    CANCELLED = "cancelled"


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
    file_bytes: int | None = None,
    on_line: Callable[[str], None] | None = None,
    on_error: Callable[[str], None] | None = None,
    on_bytes: Callable[[bytes], None] | None = None,
    is_large: Callable[[], bool] | None = None,
) -> Ended:
    """Runs a program to its end, or until `seconds` are over, `cancelled` is set or `is_large` says that it
    has made too much; its group is killed then.

    It sees PATH, what `environment` gives, and variables whose names begin with one of `passed`. Its output
    goes to `on_line` line by line, or raw to `on_bytes`; its errors to `on_error`, else they are dropped.
    It can write no file longer than `file_bytes`.
    """
    seen = {name: value for name, value in os.environ.items() if name.startswith((*_PASSED, *passed))}
    process = subprocess.Popen(
        list(argv),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**seen, **(environment or {})},
        start_new_session=True,
    )
    if file_bytes is not None:
        with suppress(ProcessLookupError):
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    hands = [
        threading.Thread(target=_feed, args=(process.stdin, given), daemon=True),
        threading.Thread(target=_drain, args=(process.stdout, on_line, on_bytes), daemon=True),
        threading.Thread(target=_drain, args=(process.stderr, on_error, None), daemon=True),
    ]
    for hand in hands:
        hand.start()
    try:
        ended = _wait(process, seconds, cancelled, is_large)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for hand in hands:
        hand.join(timeout=5)
    return ended


def _wait(
    process: subprocess.Popen[bytes],
    seconds: float,
    cancelled: threading.Event,
    is_large: Callable[[], bool] | None,
) -> Ended:
    deadline = time.monotonic() + seconds
    look = 0.0
    while True:
        with suppress(subprocess.TimeoutExpired):
            return Ended.WELL if process.wait(_LOOK_S) == 0 else Ended.BADLY
        if cancelled.is_set():
            return Ended.CANCELLED
        if time.monotonic() > deadline:
            return Ended.LATE
        if is_large and time.monotonic() >= look:
            if is_large():
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
