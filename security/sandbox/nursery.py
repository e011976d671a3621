"""The worker's side of its nursery: a supervisor without the start of a Python (supervisor/nursery.py)."""

import os
import select
import socket
import subprocess
import sys
import threading

from django.conf import settings

from security.sandbox.remedies import start_failed
from security.sandbox.supervisor.nursery import STARTED

_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from security.sandbox.supervisor.nursery import serve; serve()"
)
# What takes longer than this to be forked hangs, in seconds.
ANSWER_S = 20.0
# So often it is waited for that long.
_HANGS_MOST = 2
_lock = threading.Lock()
# The nursery of this process, if it has one: the way to it, and it.
_nursery: list[tuple[socket.socket, subprocess.Popen[bytes]]] = []


class Supervisor:
    """A supervisor with its order. `into` and `out` are our ends of its pipes.

    It sends a listening socket of the tool's network through `door`, unless that is None.
    """

    def __init__(self, order: bytes, door: socket.socket | None = None) -> None:
        self._closed = False
        given, self.into = os.pipe()
        self.out, taken = os.pipe()
        try:
            # What the pipe takes is there when it looks.
            os.set_blocking(self.into, False)
            order = order[os.write(self.into, order) :]
            os.set_blocking(self.into, True)
            self._process = _ask([given, taken, *([door.fileno()] if door else [])])
        except BaseException:
            os.close(self.into)
            os.close(self.out)
            raise
        finally:
            os.close(given)
            os.close(taken)
        send(self.into, order)

    @property
    def is_alive(self) -> bool:
        """Whether it still watches and has nothing to say."""
        return not self._closed and not select.select([self._process, self.out], [], [], 0)[0]

    def close(self, *, over: bool = False) -> None:
        """Without its input a supervisor ends the tool and itself; returns when it has.

        One whose work is `over` has nothing left to end but itself, and is not waited for.
        """
        self._closed = True
        os.close(self.into)
        os.close(self.out)
        if not over:
            select.select([self._process], [], [])
        os.close(self._process)


def send(descriptor: int, content: bytes) -> None:
    """Writes to a supervisor; one that is gone says so at its other end."""
    view = memoryview(content)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BrokenPipeError:
            return


def _ask(descriptors: list[int]) -> int:
    """A new supervisor, as a descriptor of its process. A nursery that has died, or hangs, is replaced.

    It answers through a socket of its own before it reads its order: when it dies before it does, that is at
    its end, and when it hangs, its answer is refused. The order is then as it was, and goes to another.
    """
    hung = 0
    with _lock:
        for _ in range(3):
            door = _nursery[0][0] if _nursery else _open()
            answer, theirs = socket.socketpair()
            with answer:
                with theirs:
                    try:
                        socket.send_fds(door, [b"S"], [theirs.fileno(), *descriptors])
                    except OSError:
                        _end()
                        continue
                if told := _heard(answer):
                    return _process_of(STARTED.unpack(told)[0])
                if told is None:
                    _end()
                    hung += 1
                    if hung == _HANGS_MOST:
                        break
    raise start_failed("No supervisor could be started.")


def _process_of(pid: int) -> int:
    """A descriptor that can be read once the process has ended, as it may have: its pipe has what it said."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)


def _heard(answer: socket.socket) -> bytes | None:
    """The answer; nothing from one that died, None when there is none in time and none will be taken."""
    answer.settimeout(ANSWER_S)
    try:
        return answer.recv(STARTED.size)
    except TimeoutError:
        answer.shutdown(socket.SHUT_RD)
    except OSError:
        return None
    # What was said at the last moment counts: that one has the order.
    return answer.recv(STARTED.size) or None


def _end() -> None:
    door, process = _nursery.pop()
    door.close()
    process.kill()
    process.wait()


def _open() -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    number = theirs.fileno()
    # It knows nothing of this process's environment.
    command = [sys.executable, "-I", "-S", "-c", _START, str(settings.ROOT), str(number)]
    with theirs:
        process = subprocess.Popen(
            command,
            env={},
            cwd="/",
            pass_fds=[number],
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    _nursery.append((ours, process))
    return ours


def _forget() -> None:
    """In a forked process: the nursery is its parent's, which waits for it."""
    while _nursery:
        door, process = _nursery.pop()
        door.close()
        process.returncode = 0


os.register_at_fork(after_in_child=_forget)
