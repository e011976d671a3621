"""The first process in a sandbox that serves many calls: a started Python that forks one process for each.

It runs inside bubblewrap, keeps the right to make namespaces, and for that reason runs no line of a tool: the
tool's module is imported by the process that serves one call. That one has mounts, processes and IPC of its
own, no rights, and the filter before it reads the first byte that is not the hub's. So nothing passes from
one call to the next: what they have in common is this process, which none of them sees.

The supervisor speaks to it over DOOR: at first what it shall be, then five or six descriptors for each call.
"""

import fcntl
import gc
import marshal
import os
import socket
import struct
import sys

from security.sandbox import native

# Where this file and what it imports stand inside, and how it is started.
FOLDER = "/toolhub/zygote"
START = (
    f"import sys; sys.path.insert(0, {FOLDER!r}); "
    "from security.sandbox.zygote import serve; exec(serve(), {'__name__': '__main__'})"
)
FILES = ("security/sandbox/native.py", "security/sandbox/zygote.py")
DOOR = 8
FORK, READY, REFUSED, ENDED = b"F", b"R", b"!", b"E"
# Input, output, log, and what is read before the tool may go; perhaps the secrets.
DESCRIPTORS_MOST = 5
ORDER_MOST = 200_000
_NEW = 0x00020000 | 0x08000000 | 0x20000000  # mounts, IPC, processes
_NEW_NETWORK = 0x40000000
_PRIVATE, _NOSUID, _NODEV, _NOEXEC, _REC = 1 << 18, 2, 4, 8, 16384
# What it has to hold: SYS_ADMIN for namespaces, SETPCAP to give both up for whatever comes of it.
HELD = (21, 8)
_CAPBSET_DROP = 24
_SET_DUMPABLE, _SYS_CAPSET = 4, {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION_3 = 0x20080522
SHARED_BYTES = 16 << 20


class Zygote:
    """What the supervisor ordered: see `supervisor/branch.py`."""

    def __init__(self, door: socket.socket) -> None:
        self.door = door
        self.order = marshal.loads(door.recv(ORDER_MOST))  # noqa: S302 - our own supervisor wrote it

    def serve(self) -> str:
        """Forks for each call. Returns, in the process of a call, the tool's code."""
        native.prctl(native.PR_SET_CHILD_SUBREAPER, 1)
        sys.argv = ["-c", *self.order["words"]]
        exec(self.order["prepare"], {"__name__": "__main__"})  # noqa: S102 - the hub's own code
        gc.collect()
        gc.freeze()
        while True:
            word, descriptors, _, _ = socket.recv_fds(self.door, 1, DESCRIPTORS_MOST)
            if not word:
                os._exit(0)
            pid = os.fork()
            if pid == 0:
                if self._leave(descriptors):
                    return str(self.order["code"])
                os._exit(0)
            for each in descriptors:
                os.close(each)
            os.waitpid(pid, 0)
            self._tell_end()

    def _tell_end(self) -> None:
        """Waits until the call's processes are gone, and says what they used."""
        try:
            _, status, used = os.wait3(0)
        except ChildProcessError:  # it could not be made, and has said so
            return
        code = os.waitstatus_to_exitcode(status)
        told = (code, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
        self.door.send(ENDED + marshal.dumps(told))

    def _leave(self, descriptors: list[int]) -> bool:
        """In the fork: makes the new namespaces and the call's two processes. True in the tool's own."""
        try:
            native.unshare(_NEW | (_NEW_NETWORK if self.order["network"] else 0))
            if os.fork():
                return False
            return self._first(descriptors)
        except OSError as error:
            self.door.send(REFUSED + str(error).encode()[:500])
            return False

    def _first(self, descriptors: list[int]) -> bool:
        """The first process of the new world: makes its folders, and ends with the tool. True in the tool."""
        native.mount("none", "/", flags=_REC | _PRIVATE)
        size = f"size={self.order['disk_bytes']},mode=0700"
        native.mount("tmpfs", "/work", "tmpfs", _NOSUID | _NODEV, size)
        shared = f"size={SHARED_BYTES},mode=1777"
        native.mount("tmpfs", "/dev/shm", "tmpfs", _NOSUID | _NODEV, shared)  # noqa: S108 - the sandbox's own
        if self.order["proc"]:
            native.mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
        os.chdir(self.order["cwd"])
        tool = os.fork()
        if tool == 0:
            self._tool(descriptors)
            return True
        _rights_drop()
        os.closerange(3, 64)
        # The tool has the same user: what no debugger may look at, it cannot reach into.
        native.prctl(_SET_DUMPABLE, 0)
        while True:
            pid, status = os.wait()
            if pid == tool:
                code = os.waitstatus_to_exitcode(status)
                os._exit(code if code >= 0 else 128 - code)

    def _tool(self, descriptors: list[int]) -> None:
        """Waits until it may go, and becomes as poor as a tool is."""
        os.setsid()
        self.door.send(READY)
        *streams, go = descriptors[:4]
        os.read(go, 1)
        places = [*streams, *descriptors[4:]]
        # The places may be taken by one another's descriptors: first all of them move away.
        moved = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, 30) for each in places]
        for number, descriptor in enumerate(moved):
            os.dup2(descriptor, number)
        os.closerange(len(places), 64)
        _rights_drop()
        native.prctl(_SET_DUMPABLE, 1)
        native.prctl(native.PR_SET_NO_NEW_PRIVS, 1)
        native.seccomp_load(self.order["filter"])


def serve() -> str:
    """The whole of it. Returns the tool's code in the process of a call, which runs it and nothing else."""
    code = Zygote(socket.socket(fileno=DOOR)).serve()
    sys.path.remove(FOLDER)
    for name in [each for each in sys.modules if each.partition(".")[0] == "security"]:
        del sys.modules[name]
    return code


def _rights_drop() -> None:
    """Gives up every capability, for good: there is nothing to get one back from."""
    for each in HELD:
        native.prctl(_CAPBSET_DROP, each)
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    native.syscall(_SYS_CAPSET[os.uname().machine], header, b"\0" * 24)
