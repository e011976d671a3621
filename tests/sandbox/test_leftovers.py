"""Nothing is left of runs: no process, mount, file or descriptor; also when their watchers are killed."""

import contextlib
import os
import signal
import threading
from pathlib import Path

import pytest
from django.conf import settings

from security.sandbox.levels import Level
from security.sandbox.supervisor import tree
from tests.processes import wait_for
from tests.sandbox.conftest import Run, processes_with

pytestmark = pytest.mark.hostile


def _state() -> tuple[list[int], int, list[str], list[str]]:
    """Our processes, the machine's mounts that we see, work folders, and open descriptors."""
    work = Path(settings.DATA) / "sandbox"
    return (
        tree.all_descendants(os.getpid()),
        len(Path("/proc/self/mountinfo").read_text().splitlines()),
        sorted(os.listdir(work)) if work.is_dir() else [],
        sorted(os.listdir("/proc/self/fd")),
    )


def test_two_hundred_runs_leave_nothing(run: Run) -> None:
    levels = [Level.ISOLATED, Level.CONFINED, Level.PROCESS, Level.ISOLATED] * 50
    for level in Level:
        run(level, ["/bin/true"])
    before = _state()
    for number, level in enumerate(levels):
        script = ("true", "exit 3", "(sleep 60 &) ; true", "echo x > file; mkfifo pipe; ln -s / link")[
            number % 4
        ]
        done = run(level, ["/bin/sh", "-c", script])
        assert done.how == "exited", done
    assert _state() == before


@pytest.mark.parametrize("level", list(Level))
def test_a_killed_supervisor_takes_its_tool_with_it(level: Level, run: Run) -> None:
    mark = f"mark-{os.urandom(8).hex()}"

    def kill_supervisor(block: bytes) -> None:
        for pid in tree.all_descendants(os.getpid()):
            # Those beneath one that was killed go with it.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if b"supervisor" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)

    code = "import time; print('began', flush=True); time.sleep(60)"
    done = run(level, code, mark, on_output=kill_supervisor)
    assert (done.how, done.exit_code) == ("killed", None)
    wait_for(lambda: not processes_with(mark))


@pytest.mark.parametrize("level", list(Level))
def test_a_worker_that_is_killed_takes_its_tools_with_it(level: Level, run: Run) -> None:
    """Also those that left their session: the supervisor outlives the worker for as long as that takes."""
    mark = f"mark-{os.urandom(8).hex()}"
    code = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)", sys.argv[1]])
    os._exit(0)
time.sleep(60)
"""
    worker = os.fork()
    if worker == 0:
        try:
            run(level, code, mark, cancelled=threading.Event())
        finally:
            os._exit(0)
    # bubblewrap's own two have the tool's command line in theirs.
    all_of_them = 4 if level is Level.ISOLATED else 2
    wait_for(lambda: len(processes_with(mark)) == all_of_them)
    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)
    wait_for(lambda: not processes_with(mark))
    work = Path(settings.DATA) / "sandbox"
    wait_for(lambda: not work.is_dir() or not os.listdir(work))
