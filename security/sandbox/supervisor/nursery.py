"""The process that supervisors come from: it has all of their modules, and forks one for each request.

Starting a Python took a third of a cold start. It runs nothing of a tool, and ends with the worker.
"""

import gc
import os
import signal
import socket
import struct
import sys

from security.sandbox.supervisor.main import main

STARTED = struct.Struct("=I")


def serve() -> None:
    """Answers descriptors with the process id of the supervisor that has them.

    It reads the first, writes to the second, and may send a socket of a tool's network through a third.
    """
    door = socket.socket(fileno=int(sys.argv[2]))
    # Nobody waits for a supervisor here: the worker hears its end.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.freeze()
    while True:
        word, descriptors, _, _ = socket.recv_fds(door, 1, 3)
        if not word:
            return
        pid = os.fork()
        if pid == 0:
            _become(door, *descriptors)
        for each in descriptors:
            os.close(each)
        door.send(STARTED.pack(pid))


def _become(door: socket.socket, given: int, taken: int, network: int = -1) -> None:
    try:
        door.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        for descriptor, number in ((given, 0), (taken, 1)):
            os.dup2(descriptor, number, inheritable=False)
            os.close(descriptor)
        if network >= 0:
            os.set_inheritable(network, False)
        main(network)
    except EOFError:
        pass  # the worker changed its mind before it ordered anything
    except BaseException:  # noqa: BLE001 - told by Python's own hook, and then the process ends
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(0)
