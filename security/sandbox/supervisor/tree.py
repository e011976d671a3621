"""The processes that come of a tool, as /proc tells."""

import os

HERTZ = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
_BLOCK = 1 << 16
# Whether this kernel lists a process's children (CONFIG_PROC_CHILDREN).
_LISTED = os.path.exists(f"/proc/self/task/{os.getpid()}/children")


class Entry:
    """One process: parent, processor time in seconds with that of its reaped children, memory in bytes.

    `size` is what it has mapped, 0 once it is ending.
    """

    def __init__(self, text: bytes) -> None:
        fields = text[text.rindex(b")") + 2 :].split()
        self.state = fields[0].decode()
        self.threads = int(fields[17])
        self.parent = int(fields[1])
        self.cpu_s = sum(map(int, fields[11:15])) / HERTZ
        self.size = int(fields[20])
        self.resident = int(fields[21]) * PAGE


def entry(pid: int) -> Entry | None:
    """What /proc says of a process; None when it is gone.

    Of one whose first thread has ended it says that it has no memory; then another thread is asked.
    """
    text = content_of(f"/proc/{pid}/stat")
    one = Entry(text) if text else None
    if one and not one.resident and one.threads > 1:
        told = map(Entry, filter(None, (content_of(f"{place}/stat") for place in threads(pid))))
        one.resident = max((each.resident for each in told), default=0)
    return one


def threads(pid: int) -> list[str]:
    """Where /proc tells of each thread of a process."""
    try:
        return [f"/proc/{pid}/task/{name}" for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


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


def is_ending(place: str) -> bool:
    """Whether a process or thread has given its memory back and is about to close its files."""
    text = content_of(f"{place}/stat")
    return not text or not Entry(text).size


def _children(pid: int) -> list[int]:
    lists = [content_of(f"{place}/children") for place in threads(pid)]
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
    """The process at the end of a line of single children, each with one thread."""
    if not _LISTED:
        return (all_descendants(top) or [top])[-1]
    while below := content_of(f"/proc/{top}/task/{top}/children").split():
        top = int(below[-1])
    return top


def share_of(pid: int) -> int:
    """A process's proportional share of memory (Pss) in bytes, also on disk; all of it where that hides."""
    text = content_of(f"/proc/{pid}/smaps_rollup")
    if not text:  # the first thread may have ended, and with it what is told here
        text = next(filter(None, (content_of(f"{place}/smaps_rollup") for place in threads(pid))), b"")
    found = [int(line.split()[1]) for line in text.splitlines() if line.startswith((b"Pss:", b"SwapPss:"))]
    if found:
        return sum(found) * 1024
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


def content_of(path: str, most: int = 1 << 30) -> bytes:
    """At least `most` bytes of it, if it has them, and not much more.

    Without a file object, which asks the kernel five things more: these are read again and again.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        # The kernel gives such a file a page at a time.
        parts = []
        while most > 0 and (part := os.read(descriptor, _BLOCK)):
            parts.append(part)
            most -= len(part)
        return b"".join(parts)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
