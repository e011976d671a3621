"""The processes that come of a tool, as /proc tells."""

import os

HERTZ = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
# Whether this kernel lists a process's children (CONFIG_PROC_CHILDREN).
_LISTED = os.path.exists(f"/proc/self/task/{os.getpid()}/children")


class Entry:
    """One process: parent, processor time in seconds with that of its reaped children, memory in bytes."""

    def __init__(self, text: str) -> None:
        fields = text[text.rindex(")") + 2 :].split()
        self.state = fields[0]
        self.parent = int(fields[1])
        self.cpu_s = sum(map(int, fields[11:15])) / HERTZ
        self.resident = int(fields[21]) * PAGE


def entry(pid: int) -> Entry | None:
    """What /proc says of a process; None when it is gone."""
    text = _read(f"/proc/{pid}/stat")
    return Entry(text) if text else None


def descendants(top: int) -> list[int]:
    """Every process that comes of this one, parents before children; without `top` itself."""
    if not _LISTED:
        return all_descendants(top)
    found: list[int] = []
    pending = [top]
    while pending:
        children = _children(pending.pop())
        found += children
        pending += children
    return found


def _children(pid: int) -> list[int]:
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    lists = [_read(f"/proc/{pid}/task/{thread}/children") for thread in threads]
    return [int(child) for each in lists for child in each.split()]


def all_descendants(top: int) -> list[int]:
    """The same from every process of the machine: slower, and complete also while processes come and go."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (one := entry(int(name))) is not None:
            children.setdefault(one.parent, []).append(int(name))
    found: list[int] = []
    pending = [top]
    while pending:
        below = children.get(pending.pop(), [])
        found += below
        pending += below
    return found


def youngest(top: int) -> int:
    """The process at the end of a line of single children."""
    line = descendants(top)
    return line[-1] if line else top


def share_of(pid: int) -> int:
    """A process's proportional share of memory (Pss) in bytes; all that it holds where it hides the share."""
    for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    one = entry(pid)
    return one.resident if one else 0


def count_of_user(user: int) -> int:
    """How many threads this user runs now."""
    total = 0
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == user:
                total += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue
    return total


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
