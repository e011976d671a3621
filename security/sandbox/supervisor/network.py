"""A listening socket within a run's empty network, for the worker to answer on (security/sandbox/gate.py)."""

import fcntl
import os
import socket

from security.sandbox import native
from security.sandbox.gate_place import HOST, PORT

_NS_GET_USERNS = 0xB701


def listener_give(inner: int, door: int) -> int:
    """Opens a socket where the process `inner` is, and sends it through `door`; 0, or an error number."""
    pid = os.fork()
    if pid == 0:
        code = 255
        try:
            _give(inner, door)
            code = 0
        except OSError as error:
            code = error.errno or code
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _give(inner: int, door: int) -> None:
    network = os.open(f"/proc/{inner}/ns/net", os.O_RDONLY)
    if os.geteuid() != 0:
        # Whoever made the sandbox may do everything in it, from within.
        native.setns(fcntl.ioctl(network, _NS_GET_USERNS), native.CLONE_NEWUSER)
    native.setns(network, native.CLONE_NEWNET)
    with socket.socket() as listener, socket.socket(fileno=door) as way:
        listener.bind((HOST, PORT))
        listener.listen(64)
        socket.send_fds(way, [b"L"], [listener.fileno()])
