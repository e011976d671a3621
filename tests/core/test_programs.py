"""Each helper program is ended at its bounds, alone or with all that it started."""

import sys
from pathlib import Path
from threading import Event

import pytest

from core.program_bounds import MIB, Bounds
from core.programs import Ended, program_run

HEAP = "data = bytearray(200 << 20)"
CHILD = f"import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-c', {HEAP!r}]).returncode)"
TREE = (
    "import subprocess, sys, time\n"
    "more = 'import time; data = bytearray(30 << 20); data[::4096] = b\"x\" * len(data[::4096]); time.sleep(60)'\n"
    "for _ in range(8): subprocess.Popen([sys.executable, '-c', more])\n"
    "time.sleep(60)"
)
SPIN = "while True: pass"
# As git tells how its child ended.
SPIN_CHILD = (
    "import subprocess, sys\n"
    f"code = subprocess.run([sys.executable, '-c', {SPIN!r}]).returncode\n"
    "sys.exit(f'fatal: the child died of signal {-code}')"
)
THREADS = (
    "import threading, time\n"
    "for _ in range(40): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    "time.sleep(60)"
)
PROCESSES = "import os, time\nfor _ in range(20):\n  if os.fork() == 0: break\ntime.sleep(60)"
FILE = "open('file', 'wb').write(bytes(2 << 20))"
SMALL = Bounds(memory_bytes=100 * MIB, cpu_s=20, tasks=30)
CASES = [
    ("memory of one", HEAP, SMALL, Ended.MEMORY),
    ("memory of a child", CHILD, SMALL, Ended.MEMORY),
    ("memory of all together", TREE, SMALL, Ended.MEMORY),
    ("processor", SPIN, Bounds(cpu_s=1), Ended.CPU),
    ("processor of a child", SPIN_CHILD, Bounds(cpu_s=1), Ended.CPU),
    ("threads", THREADS, Bounds(memory_bytes=1024 * MIB, tasks=30), Ended.TASKS),
    ("processes", PROCESSES, Bounds(tasks=10), Ended.TASKS),
    ("a file", FILE, Bounds(file_bytes=1 << 20), Ended.LARGE),
    ("nothing", "print(1)", SMALL, Ended.WELL),
    ("a fault", "raise KeyError", SMALL, Ended.BADLY),
    ("a server without memory", "import sys; sys.exit('remote: fatal: out of memory')", SMALL, Ended.BADLY),
]


@pytest.mark.parametrize(("code", "bounds", "how"), [row[1:] for row in CASES], ids=[row[0] for row in CASES])
def test_a_program_is_ended_at_its_bounds(tmp_path: Path, code: str, bounds: Bounds, how: Ended) -> None:
    ended = program_run(
        [sys.executable, "-S", "-c", code],
        folder=tmp_path,
        seconds=60,
        cancelled=Event(),
        bounds=bounds,
    )
    assert ended is how


def test_a_program_starts_with_its_limits() -> None:
    said: list[str] = []
    code = (
        "import resource as r\n"
        "print(*(r.getrlimit(each) for each in (r.RLIMIT_DATA, r.RLIMIT_CPU, r.RLIMIT_CORE)))"
    )
    program_run(
        [sys.executable, "-c", code], seconds=60, cancelled=Event(), on_line=said.append, bounds=SMALL
    )
    assert said == [f"({100 * MIB}, {100 * MIB}) (20, 25) (0, 0)"]
