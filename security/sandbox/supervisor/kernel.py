"""What the kernel keeps for a tool's processes, which is no memory of theirs: page tables, full sockets.

Only a control group bounds these by itself.
"""

from security.sandbox.supervisor.tree import content_of, threads

# So many sockets are free; for each further one counts what may wait in it.
FREE = 32
# Beside the bytes that wait in it a packet takes room of its own.
_OVERHEAD = 2


def tables_of(pid: int) -> int:
    """Bytes of a process's page tables."""
    text = content_of(f"/proc/{pid}/status")
    if b"\nVmPTE:" not in text:  # the first thread may have ended, and with it what is told here
        text = next((more for at in threads(pid) if b"\nVmPTE:" in (more := content_of(f"{at}/status"))), b"")
    return int(text.partition(b"\nVmPTE:")[2].split()[0]) * 1024 if text else 0


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
