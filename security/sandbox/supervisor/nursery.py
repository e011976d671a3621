"""The process that supervisors come from: it has all of their modules, and forks each before it is wanted.

Starting a Python took a third of a cold start, and forking it a tenth. So one supervisor waits, with the
process that will become a tool (child.py); when a worker takes it, the next is forked. The nursery runs
nothing of a tool, and ends with the worker.
"""

import contextlib
import gc
import os
import select
import signal
import socket
import struct
import sys

from security.sandbox import native
from security.sandbox.supervisor.child import Child
from security.sandbox.supervisor.main import main

STARTED = struct.Struct("=I")
# What the one that waits is called in lists of processes, and what it is called later.
WAITS, WATCHES = b"spare", b"supervisor"
_TAKEN, _OVER = b"T", b"O"
# The next is forked when the start of the one before is over, or at once where it is wanted.
_LATER_S = 0.03
# One that died before it was taken is not replaced at once: the next may die as well.
_REST_S = 0.1


def serve() -> None:
    """Answers descriptors with the process id of the supervisor that has them.

    The first is for that answer. It reads the second, writes to the third, and may send a socket of a tool's
    network through a fourth.
    """
    door = socket.socket(fileno=int(sys.argv[2]))
    door.set_inheritable(False)
    # Nobody waits for a supervisor here: the worker hears its end.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    # Folders that a supervisor makes have to be passable for the run's own user, whoever started the hub.
    os.umask(0o022)
    gc.freeze()
    while (word := _spare(door)) != _OVER:
        if word:
            select.select([door], [], [], _LATER_S)
        else:
            select.select([], [], [], _REST_S)


def _spare(door: socket.socket) -> bytes:
    """Forks a supervisor, and hears of it: that it was taken, that no more are wanted, nothing if it died."""
    said, says = os.pipe()
    if os.fork() == 0:
        os.close(said)
        _live(door, says)
    os.close(says)
    try:
        return os.read(said, 1)
    finally:
        os.close(said)


def _live(door: socket.socket, says: int) -> None:
    """In the supervisor, from its first moment to its last."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        native.prctl(native.PR_SET_CHILD_SUBREAPER, 1)
        native.name_set(WAITS)
        child = Child(closed=(door.fileno(), says))
        word, descriptors, _, _ = socket.recv_fds(door, 1, 4)
        if word:
            os.write(descriptors[0], STARTED.pack(os.getpid()))
            os.close(descriptors[0])
        _say(says, _TAKEN if word else _OVER)
        door.close()
        if word:
            native.name_set(WATCHES)
            _watch(child, *descriptors[1:])
    except EOFError:
        pass  # the worker changed its mind before it ordered anything
    except BaseException:  # noqa: BLE001 - told by Python's own hook, and then the process ends
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(0)


def _say(says: int, word: bytes) -> None:
    """A nursery that was killed hears nothing, and this one does its work all the same."""
    with contextlib.suppress(BrokenPipeError):
        os.write(says, word)
    os.close(says)


def _watch(child: Child, given: int, taken: int, network: int = -1) -> None:
    for descriptor, number in ((given, 0), (taken, 1)):
        os.dup2(descriptor, number, inheritable=False)
        os.close(descriptor)
    if network >= 0:
        os.set_inheritable(network, False)
    main(child, network)
