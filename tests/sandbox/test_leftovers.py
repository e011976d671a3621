"""Nothing is left of runs: no process, mount, file or descriptor; also when their watchers are killed."""

import dataclasses
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from django.conf import settings

from security.sandbox.interpreter import interpreter, interpreter_mounts
from security.sandbox.launch import Finished, Launch
from security.sandbox.levels import Level
from security.sandbox.run import sandbox_run
from security.sandbox.supervisor import tree
from security.sandbox.warm import warm_clear, warm_run
from tests.processes import wait_for
from tests.sandbox.conftest import Run, processes_with, watch_kill

pytestmark = pytest.mark.hostile


def _state() -> tuple[int, int, list[str], list[str]]:
    """How many processes are ours (the next supervisor is another one), the machine's mounts that we see, work
    folders, and open descriptors."""
    work = Path(settings.DATA) / "sandbox"
    return (
        len(tree.all_descendants(os.getpid())),
        len(Path("/proc/self/mountinfo").read_text().splitlines()),
        sorted(os.listdir(work)) if work.is_dir() else [],
        sorted(os.listdir("/proc/self/fd")),
    )


SCRIPTS = (
    "true",
    "exit 3",
    "(sleep 60 &) ; true",
    "echo x > file; mkfifo pipe; ln -s / link; mkdir artefacts",
)
# The same for what a zygote forks, which has to wait for its input.
FORKED = """
import os, subprocess, sys
given = sys.stdin.read()
subprocess.run(["/bin/sh", "-c", given])
"""


@pytest.mark.timeout(600)
def test_a_thousand_runs_leave_nothing(run: Run) -> None:
    """Cold at every level, with hosts to reach, and forked by a zygote, a quarter each."""

    def one(number: int) -> Finished:
        script = SCRIPTS[number // 4 % 4]
        kind = number % 4
        if kind == 3:
            return warm_run(forked(script), threading.Event())
        if kind == 0 and number % 20 == 0:
            return sandbox_run(
                dataclasses.replace(forked(script), network=("a.example:80",)), threading.Event()
            )
        return run((Level.ISOLATED, Level.CONFINED, Level.PROCESS)[kind], ["/bin/sh", "-c", script])

    for number in range(4):
        one(number)
    warm_clear()
    before, threads = _settled(), threading.active_count()
    for number in range(1000):
        done = one(number)
        assert done.how == "exited", done
    warm_clear()
    wait_for(lambda: _state() == before)
    assert threading.active_count() <= threads


def forked(script: str) -> Launch:
    return Launch(
        argv=[interpreter(), "-I", "-S", "-c", FORKED],
        level=Level.ISOLATED,
        stdin=script.encode(),
        mounts=interpreter_mounts(),
        environment={"PATH": "/usr/bin:/bin"},
        prepare="import json",
    )


def _settled() -> object:
    """The state, once what is just ending has ended."""
    while (seen := _state()) != (time.sleep(0.2), _state())[1]:
        pass
    return seen


@pytest.mark.parametrize("level", list(Level))
def test_a_killed_supervisor_takes_its_tool_with_it(level: Level, run: Run) -> None:
    mark = f"mark-{os.urandom(8).hex()}"

    code = "import time; print('began', flush=True); time.sleep(60)"
    done = run(level, code, mark, on_output=lambda _: watch_kill(mark))
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
