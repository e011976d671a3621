"""Programs that try to get out of a sandbox, or to use more than they may: `python programs.py NAME WORLD`.

WORLD is JSON and names what stands outside. A program prints `held`, or `escaped` and what it got; what it left
outside is looked at by the test.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
MIB = 1 << 20
World = dict[str, Any]


def tried(**acts: Callable[[], object]) -> None:
    """Escaped is who got anything but an error or nothing out of one of these."""
    got = {}
    for name, act in acts.items():
        try:
            if what := act():
                got[name] = str(what)[:80]
        except (OSError, ValueError, MemoryError, RuntimeError):
            continue
    print(f"escaped {got}" if got else "held", flush=True)


def zero(name: str, *arguments: object) -> bool:
    """Whether a function of the C library succeeds."""
    return getattr(LIBC, name)(*arguments) == 0


def connected(family: int, address: object) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.settimeout(2)
        sock.connect(address)
    return True


# --- files ---


def read_passwords(world: World) -> None:
    tried(shadow=lambda: Path("/etc/shadow").read_text(), keys=lambda: os.listdir("/etc/ssl/private"))


def read_the_hub(world: World) -> None:
    folder = Path(world["hub"])
    tried(file=(folder / "settings").read_text, folder=lambda: os.listdir(folder))


def read_the_environment(world: World) -> None:
    tried(own=lambda: [name for name, value in os.environ.items() if world["secret"] in value])


def read_other_work(world: World) -> None:
    tried(file=lambda: Path(world["other"], "secret").read_text(), near=lambda: os.listdir(world["other"]))


def read_descriptors(world: World) -> None:
    def inherited() -> list[int]:
        found = []
        for number in range(3, 200):
            try:
                os.fstat(number)
            except OSError:
                continue
            found.append(number)
        return found

    tried(descriptors=inherited)


def write_outside(world: World) -> None:
    for path in world["outside"]:
        try:
            Path(path).write_text("was here")
        except OSError:
            continue
    print("held", flush=True)


def write_the_interpreter(world: World) -> None:
    tried(
        running=lambda: os.open("/proc/self/exe", os.O_RDWR),
        file=lambda: os.open(os.path.realpath(sys.executable), os.O_RDWR),
        package=lambda: os.open(__file__, os.O_RDWR),
    )


def write_the_root(world: World) -> None:
    def mode(path: str) -> bool:
        os.chmod(path, 0o666)
        return os.stat(path).st_mode & 0o777 == 0o666

    tried(
        passwords=lambda: mode("/etc/passwd"),
        loader=lambda: os.open("/etc/ld.so.cache", os.O_WRONLY),
        new=lambda: os.open("/new", os.O_CREAT | os.O_WRONLY),
        device=lambda: os.open("/dev/new", os.O_CREAT | os.O_WRONLY),
    )


def follow_links(world: World) -> None:
    target = f"{world['hub']}/settings"

    def by_link() -> str:
        os.symlink(target, "link")
        return Path("link").read_text()

    def by_name() -> str:
        os.link(target, "name")
        return Path("name").read_text()

    tried(link=by_link, name=by_name)


def change_modes(world: World) -> None:
    """What may be done to a file without opening it."""
    target = f"{world['hub']}/settings"
    with contextlib.suppress(OSError):
        os.chmod(target, 0o606)
    with contextlib.suppress(OSError):
        os.utime(target, (1, 1))
    print("held", flush=True)


def watch_files(world: World) -> None:
    tried(watched=lambda: LIBC.inotify_add_watch(LIBC.inotify_init(), world["hub"].encode(), 0xFFF) >= 0)


# --- network ---


def connect_tcp(world: World) -> None:
    tried(
        four=lambda: connected(socket.AF_INET, ("127.0.0.1", world["tcp"])),
        six=lambda: connected(socket.AF_INET6, ("::1", world["tcp"])),
    )


def send_udp(world: World) -> None:
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.sendto(b"was here", ("127.0.0.1", world["udp"]))
    except OSError:
        pass
    print("held", flush=True)


def connect_unix(world: World) -> None:
    tried(path=lambda: connected(socket.AF_UNIX, world["unix"]))


def connect_abstract(world: World) -> None:
    tried(name=lambda: connected(socket.AF_UNIX, "\0" + world["abstract"]))


def datagrams_of_a_pair(world: World) -> None:
    """A pair needs no name, and sends to any."""
    for name in (world["unix"] + ".gram", "\0" + world["abstract"] + ".gram"):
        with contextlib.suppress(OSError):
            one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            one.sendto(b"was here", name)
    print("held", flush=True)


def odd_sockets(world: World) -> None:
    def made(family: int, kind: int, protocol: int = 0) -> bool:
        socket.socket(family, kind, protocol).close()
        return True

    tried(
        netlink=lambda: made(socket.AF_NETLINK, socket.SOCK_RAW),
        packet=lambda: made(socket.AF_PACKET, socket.SOCK_RAW),
        vsock=lambda: made(40, socket.SOCK_STREAM),
        algorithms=lambda: made(38, socket.SOCK_SEQPACKET),
    )


# --- other processes ---


def trace_another(world: World) -> None:
    victim = world["victim"]

    def attached() -> bool:
        if LIBC.ptrace(16, victim, 0, 0) != 0:
            return False
        os.waitpid(victim, 0x40000000)
        return bool(LIBC.ptrace(17, victim, 0, 0) == 0)

    tried(
        trace=attached,
        memory=lambda: os.open(f"/proc/{victim}/mem", os.O_RDWR),
        descriptor=lambda: LIBC.syscall(438, LIBC.syscall(434, victim, 0), 0, 0) >= 0,
    )


def kill_another(world: World) -> None:
    with contextlib.suppress(OSError):
        os.kill(world["victim"], signal.SIGKILL)
    print("held", flush=True)


def signal_another_by_a_file(world: World) -> None:
    """Who owns a file is sent what signal it says when something comes."""
    with contextlib.suppress(OSError):
        out, into = os.pipe()
        fcntl.fcntl(out, 8, world["victim"])  # F_SETOWN
        fcntl.fcntl(out, 10, signal.SIGKILL)  # F_SETSIG
        fcntl.fcntl(out, fcntl.F_SETFL, os.O_ASYNC)
        os.write(into, b"x")
    print("held", flush=True)


def limit_another(world: World) -> None:
    victim = world["victim"]

    def slower() -> bool:
        os.setpriority(os.PRIO_PROCESS, victim, 19)
        return True

    def tied() -> bool:
        os.sched_setaffinity(victim, {0})
        return True

    tried(
        limits=lambda: resource.prlimit(victim, resource.RLIMIT_NOFILE, (64, 64)),
        slower=slower,
        tied=tied,
        later=lambda: LIBC.syscall(251 if os.uname().machine == "x86_64" else 30, 1, victim, 3 << 13) == 0,
    )


def read_environments(world: World) -> None:
    def seen() -> list[str]:
        found = []
        for name in os.listdir("/proc"):
            try:
                if world["secret"].encode() in Path("/proc", name, "environ").read_bytes():
                    found.append(name)
            except OSError:
                continue
        return found

    tried(environ=seen)


def read_command_lines(world: World) -> None:
    def seen() -> bool:
        return b"the-victim" in Path(f"/proc/{world['victim']}/cmdline").read_bytes()

    tried(cmdline=seen)


def write_the_first(world: World) -> None:
    """The process with the number 1, if it has the same user: what it may do more would be ours."""

    def limits(pid: str) -> list[tuple[str, float]]:
        rows = Path(f"/proc/{pid}/limits").read_text().splitlines()[1:]
        return [(row[:26].strip(), float(row[47:68].replace("unlimited", "inf"))) for row in rows]

    def more() -> list[str]:
        os.close(os.open("/proc/1/mem", os.O_RDWR))
        return [name for (name, own), (_, its) in zip(limits("self"), limits("1"), strict=True) if its > own]

    tried(more=more)


# --- privileges ---


def privileges(world: World) -> None:
    def capable() -> bool:
        header, data = struct.pack("=Ii", 0x20080522, 0), ctypes.create_string_buffer(24)
        LIBC.capget(header, data)
        return any(struct.unpack("=6I", data.raw)[:2])

    tried(
        locked=lambda: LIBC.prctl(39, 0, 0, 0, 0) != 1,
        capable=capable,
        root=lambda: os.getuid() == 0 or zero("setuid", 0),
    )


def mounts(world: World) -> None:
    tried(
        mount=lambda: zero("mount", b"none", b".", b"tmpfs", 0, None),
        unmount=lambda: zero("umount2", b"/proc", 2),
        root=lambda: zero("chroot", b"."),
    )


def namespaces(world: World) -> None:
    tried(user=lambda: zero("unshare", 0x10000000), clone=lambda: LIBC.syscall(435, b"\0" * 64, 64) >= 0)


# By the tables of x86-64 and of the other machines (asm-generic).
_CALLS = {
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "kcmp": (312, 272),
    "process_vm_readv": (310, 270),
    "open_by_handle_at": (304, 265),
    "move_pages": (279, 239),
    "fanotify_init": (300, 262),
    "quotactl": (179, 60),
    "io_uring_setup": (425, 425),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "clone3": (435, 435),
    "pidfd_getfd": (438, 438),
    "memfd_secret": (447, 447),
    "listmount": (458, 458),
    "far beyond": (900, 900),
}


def forbidden_calls(world: World) -> None:
    """Reached is a call that the kernel answers with anything but EPERM or ENOSYS, the filter's answers."""
    column = 0 if os.uname().machine == "x86_64" else 1
    reached = []
    for name, numbers in _CALLS.items():
        LIBC.syscall(numbers[column], 0, 0, 0, 0, 0)
        if ctypes.get_errno() not in (1, 38):
            reached.append(name)
    print(f"escaped {reached}" if reached else "held", flush=True)


# --- more than it may use ---


def many_processes(world: World) -> None:
    count = 0
    try:
        for _ in range(500):
            if os.fork() == 0:
                time.sleep(20)
                os._exit(0)
            count += 1
    except OSError:
        pass
    print(f"escaped {count}" if count >= 200 else "held", flush=True)


def many_threads(world: World) -> None:
    count = 0
    try:
        for _ in range(500):
            threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
            count += 1
    except RuntimeError:
        pass
    print(f"escaped {count}" if count >= 200 else "held", flush=True)
    os._exit(0)


def _fill(mib: int) -> list[bytearray]:
    kept = []
    for _ in range(mib // 16):
        block = bytearray(16 * MIB)
        block[::4096] = b"x" * len(block[::4096])
        kept.append(block)
    return kept


def memory(world: World) -> None:
    tried(held=lambda: len(_fill(2048)))


def memory_of_many(world: World) -> None:
    """Each of them has less than the bound; together they have more."""
    for _ in range(6):
        if os.fork() == 0:
            _fill(160)
            time.sleep(5)
            os._exit(0)
    codes = [os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(6)]
    print("escaped" if codes == [0] * 6 else "held", flush=True)


def _headless(act: Callable[[], object]) -> None:
    """Acts in a thread whose process has lost its first one: of such a process /proc tells little."""

    def do() -> None:
        with contextlib.suppress(OSError):
            act()
        time.sleep(5)

    threading.Thread(target=do).start()
    LIBC.syscall(60 if os.uname().machine == "x86_64" else 93, 0)


def memory_of_headless(world: World) -> None:
    for _ in range(6):
        if os.fork() == 0:
            _headless(lambda: _fill(160))
    time.sleep(5)
    print("escaped", flush=True)


def nameless_files_of_headless(world: World) -> None:
    def written() -> None:
        for number in range(12):
            descriptor = os.open(f"file-{number}", os.O_CREAT | os.O_RDWR)
            os.unlink(f"file-{number}")
            for _ in range(8):
                os.write(descriptor, b"x" * MIB)

    if os.fork() == 0:
        _headless(written)
    time.sleep(5)
    print("escaped", flush=True)


def _write_many(folder: str) -> int:
    written = 0
    for number in range(32):
        with open(f"{folder}/hostile-{number}", "wb") as file:
            for _ in range(8):
                file.write(b"x" * MIB)
                written += 1
    return written


def page_tables(world: World) -> None:
    """Looks at much that is empty: no page is its own, but the way to each has to be kept."""
    LIBC.mmap.restype, far = ctypes.c_void_p, 64 << 30
    LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    for _ in range(16):
        begin = LIBC.mmap(None, far, 1, 0x4022, -1, 0)  # to be read, private, of nothing, not reserved
        if begin in {None, 2**64 - 1}:
            break
        for at in range(begin, begin + far, 2 * MIB):
            _ = ctypes.c_char.from_address(at).value
    else:
        print("escaped 2 GiB", flush=True)
        return
    print("held", flush=True)


def many_mappings(world: World) -> None:
    """Each of them is as small as can be, and none has a page."""
    LIBC.mmap.restype, LIBC.mmap.argtypes = (
        ctypes.c_void_p,
        [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long],
    )
    LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    count = 32_000
    begin = LIBC.mmap(None, count * 8192, 1, 0x4022, -1, 0)
    for number in range(count):
        if LIBC.mprotect(begin + number * 8192, 4096, 0) != 0:
            break
    made = 1
    with contextlib.suppress(OSError):
        while made < 60:
            if os.fork() == 0:
                time.sleep(12)
                os._exit(0)
            made += 1
    time.sleep(6)  # to look at so many takes a while
    print(f"escaped {made} times {2 * count} mappings", flush=True)


def file_locks(world: World) -> None:
    """A lock on every second byte of many files."""
    count = 0
    with contextlib.suppress(OSError):
        for number in range(4):
            if os.fork() == 0:
                for name in range(150):
                    file = os.open(f"locked-{number}-{name}", os.O_CREAT | os.O_RDWR)
                    for at in range(4000, 0, -1):
                        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, at * 2)
                time.sleep(3)
                os._exit(0)
            count += 1
        for _ in range(count):
            os.wait()
    print("held", flush=True)


def slow_to_look_at(world: World) -> None:
    """As much as it may have, so that whoever counts it is busy."""
    for number in range(1_900):
        os.close(os.open(f"file-{number}", os.O_CREAT | os.O_WRONLY))
    with contextlib.suppress(OSError):
        while True:
            os.open("file-0", os.O_RDONLY)
    with contextlib.suppress(RuntimeError):
        for _ in range(58):
            threading.Thread(target=time.sleep, args=(60,)).start()
    time.sleep(60)


def terminal_buffers(world: World) -> None:
    def pair() -> Any:
        return os.openpty()

    _buffers(pair)


def sockets_in_flight(world: World) -> None:
    """Full ones, that no process has: they wait within another to be taken."""
    given, taken = os.pipe()
    for _ in range(8):
        if os.fork() == 0:
            filled, carriers = _flown()
            os.write(taken, struct.pack("q", filled))
            time.sleep(4)
            carriers.clear()  # until now they were under way
            os._exit(0)
    os.close(taken)
    total = 0
    while block := os.read(given, 8):
        total += struct.unpack("q", block)[0]
    print(f"escaped {total}" if total > 256 * MIB else "held", flush=True)


def _flown() -> tuple[int, list[Any]]:
    """How many bytes wait in pairs that are under way, and the pairs that carry these."""
    filled, carriers = 0, list[Any]()
    with contextlib.suppress(OSError):
        while True:
            carriers.append(socket.socketpair())
            for _ in range(40):
                one, other = socket.socketpair()
                with one, other:
                    one.setblocking(False)
                    more = 0
                    with contextlib.suppress(BlockingIOError):
                        while True:
                            more += one.send(b"x" * 65536)
                    socket.send_fds(carriers[-1][0], [b"x"], [other.fileno()])
                    filled += more
    return filled, carriers


def _buffers(pair: Callable[[], Any]) -> None:
    """Fills the buffers of as many pairs as eight processes get, and holds them all until each has its own."""
    given, taken = os.pipe()
    ends, held = os.pipe()
    for _ in range(8):
        if os.fork() == 0:
            os.close(held)
            filled, kept = _pairs_fill(pair)
            os.write(taken, struct.pack("q", filled))
            os.close(taken)
            os.read(ends, 1)  # as long as the first process lives, the pairs do
            kept.clear()
            os._exit(0)
    os.close(taken)
    total = 0
    while block := os.read(given, 8):
        total += struct.unpack("q", block)[0]
    if total <= 256 * MIB:
        print("held", flush=True)
        return
    time.sleep(5)
    print(f"escaped {total}", flush=True)


def _pairs_fill(pair: Callable[[], Any]) -> tuple[int, list[Any]]:
    """How many bytes wait in as many pairs as there can be, and these."""
    filled, kept = 0, list[Any]()
    with contextlib.suppress(OSError):
        while True:
            kept.append(ends := pair())
            for end in ends:
                number = end if isinstance(end, int) else end.fileno()
                os.set_blocking(number, False)
                with contextlib.suppress(BlockingIOError, OSError):
                    while True:
                        filled += os.write(number, b"x" * 65536)
    return filled, kept


def socket_buffers(world: World) -> None:
    def pair() -> Any:
        ends = socket.socketpair()
        for end in ends:
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MIB)
        return ends

    _buffers(pair)


def connection_buffers(world: World) -> None:
    """Connections with itself, where it has a network of its own: their buffers grow."""

    def pair() -> Any:
        with socket.create_server(("127.0.0.1", 0)) as server:
            one = socket.create_connection(server.getsockname())
            return one, server.accept()[0]

    _buffers(pair)


def pipe_buffers(world: World) -> None:
    def pair() -> Any:
        out, into = os.pipe()
        with contextlib.suppress(OSError):
            fcntl.fcntl(into, 1031, MIB)  # F_SETPIPE_SZ
        return (into, out)

    _buffers(pair)


def shared_memory(world: World) -> None:
    try:
        tried(written=lambda: _write_many("/dev/shm"))
    finally:
        for number in range(32):
            Path(f"/dev/shm/hostile-{number}").unlink(missing_ok=True)


def memory_files(world: World) -> None:
    def held() -> int:
        descriptors = []
        for _ in range(32):
            descriptors.append(os.memfd_create("hostile"))
            for _ in range(8):
                os.write(descriptors[-1], b"x" * MIB)
        return len(descriptors)

    tried(held=held)


def processor(world: World) -> None:
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    while True:
        pass


def processors(world: World) -> None:
    for _ in range(3):
        if os.fork() == 0:
            break
    processor(world)


def sleep_on(world: World) -> None:
    time.sleep(60)


def deaf(world: World) -> None:
    for number in range(1, 32):
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(1)


def daemon(world: World) -> None:
    """A child of a child in a session of its own, without our pipes."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in range(3):
                os.close(number)
            os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)", world["mark"]])
        os._exit(0)
    os.wait()
    print("held", flush=True)


def comet(world: World) -> None:
    """Ever another process, each gone before it is looked at."""
    if os.fork() == 0:
        os.setsid()
        code = "import os\nwhile True:\n if os.fork(): os._exit(0)"
        os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", code, world["mark"]])
    print("held", flush=True)


def stop_itself(world: World) -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def fill_the_folder(world: World) -> None:
    tried(written=lambda: _write_many("."))
    time.sleep(1)


def large_file(world: World) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def written() -> int:
        with open("large", "wb") as file:
            file.writelines(b"x" * MIB for _ in range(256))
        return 256

    tried(written=written)
    time.sleep(1)


def many_files(world: World) -> None:
    for number in range(100_000):
        os.close(os.open(f"file-{number}", os.O_CREAT | os.O_WRONLY))
    print("escaped", flush=True)


def deep_folders(world: World) -> None:
    for _ in range(5_000):
        os.mkdir("d")
        os.chdir("d")
    time.sleep(1)
    print("escaped", flush=True)


def nameless_files(world: World) -> None:
    """Files that no folder shows: made, deleted and written."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def written() -> int:
        kept = []
        for number in range(64):
            kept.append(os.open(f"file-{number}", os.O_CREAT | os.O_RDWR))
            os.unlink(f"file-{number}")
            for _ in range(4):
                os.write(kept[-1], b"x" * MIB)
        return len(kept)

    tried(written=written)
    time.sleep(1)


def flood_output(world: World) -> None:
    for _ in range(1024):
        os.write(1, b"x" * MIB)
    print("escaped", flush=True)


def flood_log(world: World) -> None:
    for _ in range(1024):
        os.write(2, b"x" * MIB)
    print("escaped", flush=True)


def large_core(world: World) -> None:
    tried(core=lambda: resource.getrlimit(resource.RLIMIT_CORE)[1] > 1)


if __name__ == "__main__":
    globals()[sys.argv[1]](json.loads(sys.argv[2]))
