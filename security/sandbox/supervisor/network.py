"""A listening socket within a run's empty network, for the worker to answer on (security/sandbox/gate.py)."""

import fcntl
import os
import socket
import struct

from security.sandbox import native
from security.sandbox.gate_place import HOST, PORT
from security.sandbox.supervisor.order import Order

_NS_GET_USERNS = 0xB701
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1


def network_give(order: Order, inner: int) -> str:
    """A way to the network for the process `inner`, where the order has one; why it could not be made."""
    if order.network < 0 or not (number := _listener_give(inner, order.network)):
        return ""
    return f"no way to the network could be made: {os.strerror(number)}"


def _listener_give(inner: int, door: int) -> int:
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
    _switch_on()
    with socket.socket() as listener, socket.socket(fileno=door) as way:
        listener.bind((HOST, PORT))
        listener.listen(64)
        socket.send_fds(way, [b"L"], [listener.fileno()])


def _switch_on() -> None:
    """bubblewrap does so with its own; a network that a zygote made has nothing that is on."""
    with socket.socket(type=socket.SOCK_DGRAM) as any_one:
        fcntl.ioctl(any_one, _SIOCSIFFLAGS, struct.pack("=16sH22x", b"lo", _IFF_UP))
