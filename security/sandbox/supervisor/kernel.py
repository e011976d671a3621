"""What the kernel keeps for a tool's processes, which is no memory of theirs: tables, full sockets, locks.

Only a control group bounds these by itself.
"""

from security.sandbox.supervisor.tree import content_of, is_ending, threads

# So many sockets are free; for each further one counts what may wait in it.
FREE = 32
# Beside the bytes that wait in it a packet takes room of its own.
_OVERHEAD = 2
# So many mappings of a process are free; each further one takes so many bytes. Of more than this much text
# about them it is not read how many they are: then they are taken for the most that a process may have.
_MAPPINGS, _MAPPING, _TEXT_MOST, _MAPPINGS_MOST = 2_000, 256, 1 << 20, 65_530
# So many locks of files are free. A further one counts as much more than it takes: to look at many is slow.
_LOCKS, _LOCK = 1_000, 1 << 16


def tables_of(pid: int) -> int:
    """Bytes of a process's page tables, and of its memory that is on disk for want of room."""
    text = content_of(f"/proc/{pid}/status")
    if b"\nVmPTE:" not in text:  # the first thread may have ended, and with it what is told here
        text = next((more for at in threads(pid) if b"\nVmPTE:" in (more := content_of(f"{at}/status"))), b"")
    return 1024 * sum(_number(text, name) for name in (b"\nVmPTE:", b"\nVmSwap:"))


def mappings_of(pid: int) -> int:
    """Bytes that the kernel keeps about what a process has mapped, from many on."""
    text = content_of(f"/proc/{pid}/maps", _TEXT_MOST)
    if not text:  # the first thread may have ended, and with it what is told here
        text = next(filter(None, (content_of(f"{at}/maps", _TEXT_MOST) for at in threads(pid))), b"")
    if not text and is_ending(f"/proc/{pid}"):
        return 0
    # One that hides them is taken for one that has the most.
    count = text.count(b"\n") if 0 < len(text) < _TEXT_MOST else _MAPPINGS_MOST
    return max(0, count - _MAPPINGS) * _MAPPING


def locks_bytes(pids: "list[int]") -> int:
    """What locks of files count that these processes have, and those that no process has by itself."""
    text = content_of("/proc/locks", _TEXT_MOST)
    if text.count(b"\n") <= _LOCKS:
        return 0
    owners = {b"-1", *(b"%d" % pid for pid in pids)}
    rows = (line.split()[-4:-3] for line in text.splitlines())
    return max(0, sum(row[0] in owners for row in rows if row) - _LOCKS) * _LOCK


def sockets_bytes(count: int) -> int:
    """What so many sockets may hold: a tool cannot make their buffers larger (seccomp.py)."""
    return max(0, count - FREE) * _each()


def network_bytes(pid: int) -> int:
    """What all sockets of the network hold that a process is in, whoever has them."""
    used = _number(content_of(f"/proc/{pid}/net/sockstat"), b"sockets: used ")
    if used <= FREE:
        return 0
    return sockets_bytes(used) + _OVERHEAD * sum(_waits(pid, kind) for kind in ("tcp", "tcp6"))


def _waits(pid: int, kind: str) -> int:
    """Bytes that wait to be sent or read in connections, which grow beyond what a socket begins with."""
    total = 0
    for line in content_of(f"/proc/{pid}/net/{kind}").splitlines()[1:]:
        out, _, into = line.split()[4].partition(b":")
        total += int(out, 16) + int(into, 16)
    return total


def _number(text: bytes, name: bytes) -> int:
    _, found, rest = text.partition(name)
    return int(rest.split()[0]) if found else 0


_sizes: list[int] = []


def _each() -> int:
    if not _sizes:
        _sizes.append(int(content_of("/proc/sys/net/core/wmem_default") or b"212992"))
    return _sizes[0]
