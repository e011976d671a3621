"""A zygote (security/sandbox/zygote.py) as its supervisor sees it, and the calls that it forks one by one."""

import contextlib
import fcntl
import marshal
import os
import select
import signal
import socket
import struct

from security.sandbox import native, zygote
from security.sandbox.supervisor import isolated, tree
from security.sandbox.supervisor.channel import Channel
from security.sandbox.supervisor.child import SECRETS
from security.sandbox.supervisor.identity import identity_of, identity_take
from security.sandbox.supervisor.network import network_give
from security.sandbox.supervisor.order import Order
from security.sandbox.supervisor.start import READY_S, Refused, Tool, admit, group_make
from security.sandbox.supervisor.sweep import sweep
from security.sandbox.supervisor.watch import Watch

# How long the kernel may take to end the processes of a call, in seconds.
_END_S = 10.0
_CREDENTIALS = struct.Struct("=3i")


class Zygote:
    """A started zygote."""

    def __init__(self, order: Order) -> None:
        self._order, self._calls = order, 0
        self.door, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.door.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        supervisor, (self.said, says) = os.getpid(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                _become(order, supervisor, theirs.fileno(), says)
            except Exception as error:  # noqa: BLE001 - the process ends here; whatever it was is told
                os.write(says, f"{type(error).__name__}: {error}".encode()[:2000])
            finally:
                os._exit(125)
        theirs.close()
        os.close(says)
        with contextlib.suppress(OSError):  # one that died already is missed when it is asked for a call
            self.door.send(marshal.dumps(self._told()))

    def _told(self) -> dict[str, object]:
        order = self._order
        after = order.argv.index("-c") + 1
        return {
            "prepare": order.prepare,
            "code": order.argv[after],
            "words": order.argv[after + 1 :],
            "cwd": order.cwd,
            "proc": order.proc,
            "network": order.network >= 0,
            "disk_bytes": isolated.work_bytes(order),
            "filter": order.program,
        }

    def branch(self) -> "Branch":
        """The process of the next call, let go and without its input.

        Raises Refused where this machine lets none be made, OSError where the zygote is gone.
        """
        into, out, err, go = os.pipe(), os.pipe(), os.pipe(), os.pipe()
        hidden = os.pipe() if self._order.secrets else None
        given = [into[0], out[1], err[1], go[0], *([hidden[0]] if hidden else [])]
        try:
            socket.send_fds(self.door, [zygote.FORK], given)
            pid = self._ready()
        finally:
            for each in given:
                os.close(each)
        made = Branch(self, pid, into[1], out[0], err[0])
        made.secrets = hidden[1] if hidden else -1
        self._calls += 1
        if group := group_make(self._order, self._order.group and f"{self._order.group}-{self._calls}"):
            made.group = group
            for each in (made.pid, pid):
                group.take(each)
        admit(self._order, made, pid)
        if why := network_give(self._order, pid):
            raise Refused(why)
        os.write(go[1], b"\n")
        os.close(go[1])
        return made

    def _ready(self) -> int:
        """The process that waits to be let go, as this machine numbers it."""
        word, ancillary = self.hear(READY_S)
        if not word.startswith(zygote.READY):
            if why := word[1:] or os.read(self.said, 2000):
                raise Refused(why.decode(errors="replace").strip())
            raise ProcessLookupError("the zygote has ended")
        for level, kind, content in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
                return int(_CREDENTIALS.unpack(content)[0])
        raise ProcessLookupError("the kernel did not say which process it is")

    def hear(self, seconds: float) -> tuple[bytes, list[tuple[int, int, bytes]]]:
        """The next word of it; nothing when it is gone or says none in time."""
        if not select.select([self.door], [], [], seconds)[0]:
            return b"", []
        try:
            word, ancillary, _, _ = self.door.recvmsg(1000, socket.CMSG_SPACE(_CREDENTIALS.size))
        except ConnectionError:
            return b"", []
        return word, ancillary

    def end(self) -> None:
        """Ends it and whatever is left of its calls."""
        self.door.close()
        sweep(self.pid)


class Branch(Tool):
    """One call's processes, beneath one that is the first of a world of their own."""

    def __init__(self, of: Zygote, inner: int, stdin: int, stdout: int, stderr: int) -> None:
        one = tree.entry(inner)
        if one is None:
            raise ProcessLookupError("the process of the call is gone")
        super().__init__(one.parent, stdin, stdout, stderr)
        self._of = of
        self._used_s, self._peak = 0.0, 0

    def reaped_s(self) -> float:
        """Known at the end; before, the first of the world counts those that are gone as its own."""
        return self._used_s

    def peak_bytes(self) -> int:
        """The most memory that one of its processes had."""
        return self._peak

    def end(self) -> int | None:
        """Ends the world with its first process; the kernel leaves nothing of it."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        word, _ = self._of.hear(_END_S)
        if self.group:
            self.group.end()
        if not word.startswith(zygote.ENDED):
            return None
        code, self._used_s, self._peak = marshal.loads(word[1:])  # noqa: S302 - the zygote runs no tool
        return int(code)

    def close(self) -> None:
        """Gives up the descriptors that are still open."""
        pipes = {self.stdin, self.stdout, self.stderr, self.secrets}
        for each in pipes | {self.pidfd, self.told, self.work, self.shared}:
            if each >= 0:
                os.close(each)


def calls_serve(order: Order, channel: Channel) -> None:
    """Watches over one call after the other, until the worker wants no more or one ends before its time."""
    grown = Zygote(order)
    try:
        while call := _next(grown, channel):
            watch = Watch(order, call, channel)
            watch.run()
            call.close()
            if watch.report["parked"] or watch.report["how"] == "killed":
                return
    finally:
        grown.end()


def _next(grown: Zygote, channel: Channel) -> "Branch | None":
    """The process of the next call. Where none can be made the worker hears it: then nothing was begun."""
    try:
        return grown.branch()
    except Refused as error:
        report: dict[str, object] = {"how": "refused", "why": str(error)}
    except OSError:  # the zygote is gone
        report = {"how": "killed", "parked": True}
    channel.end(report, b"")
    return None


def _become(order: Order, supervisor: int, door: int, says: int) -> None:
    """In the child: becomes bubblewrap with the zygote in it."""
    os.setsid()
    null = os.open("/dev/null", os.O_RDWR)
    # The places may be taken by one another's descriptors: first all of them move away.
    moved = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, 30) for each in (null, null, says, door)]
    for number, descriptor in zip((0, 1, 2, zygote.DOOR), moved, strict=True):
        os.dup2(descriptor, number)
    if os.getuid() == 0 and not order.as_root:
        identity_take(identity_of(supervisor, order.mounts), [host for host, *_ in order.mounts], [])
    native.prctl(native.PR_SET_PDEATHSIG, signal.SIGKILL)
    if order.secrets:
        order.environment["TOOLHUB_SECRETS_FD"] = str(SECRETS)
    os.execve(order.bubblewrap, isolated.zygote_arguments(order, zygote.START), {})  # noqa: S606
