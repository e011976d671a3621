"""Processes that are forked from one that has loaded everything: they share its memory, and start at once.

The one that forks has no thread, no connection and no open file that matters (see `loading.py`): none of
these comes through a fork unharmed.
"""

import atexit
import multiprocessing
import os
import runpy
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Collection
from typing import NoReturn

from toolhub.processes.linux import SET_NAME, SET_PDEATHSIG, prctl
from toolhub.processes.plan import Program

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)
# What Linux keeps of a process's name.
NAME_BYTES = 15
MODULE = "-m"


def forked(name: str, run: Callable[[], int]) -> int:
    """Forks; the new process does `run` and ends with what it gives. Gives the new process's pid.

    It has the name for who looks at processes, and none of the handlers of signals.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    # A signal that comes meanwhile is neither lost nor taken for another's.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    pid = os.fork()
    if pid:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return pid
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        for number in SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        prctl(SET_NAME, name.encode()[:NAME_BYTES])
        status = run()
    except SystemExit as end:
        status = _status(end)
    except BaseException:  # noqa: BLE001 - whatever it is, nothing of the one that forked may go on here
        traceback.print_exc()
    finally:
        _leave(status)


def _status(end: SystemExit) -> int:
    """What an interpreter makes of it."""
    if isinstance(end.code, str):
        sys.stderr.write(f"{end.code}\n")
    return end.code if isinstance(end.code, int) else int(end.code is not None)


def _leave(status: int) -> NoReturn:
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


def die_with(parent: int) -> None:
    """Has the kernel end this process when the one that forked it has ended, even by SIGKILL (Linux)."""
    prctl(SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def descriptors_close(but: Collection[int] = ()) -> None:
    """Closes what came through the fork, but for the standard three and those that are named."""
    for name in os.listdir("/dev/fd"):
        if int(name) > 2 and int(name) not in but:
            try:
                os.close(int(name))
            except OSError:  # the one that listed them
                continue


def become(program: Program) -> int:
    """Does what the program's command does, as an interpreter of its own would, with all that is loaded."""
    os.environ.update(program.env)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    # Granian's and others' own processes share what is loaded, too.
    multiprocessing.set_start_method("fork", force=True)
    _, flag, module, *arguments = program.command
    assert flag == MODULE, program.command  # noqa: S101
    sys.argv = [module, *arguments]
    status = 0
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        status = _status(end)
    # As at the end of every interpreter.
    threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001
    atexit._run_exitfuncs()  # noqa: SLF001
    return status
