"""What a tool's processes use together, looked at again and again, and the highest that was seen."""

import errno
import os
import stat

from security.sandbox.supervisor import kernel, tree
from security.sandbox.supervisor.start import Tool

# With more processes than this their memory is first added up the cheap way.
_EXACT = 16
# Of so many processes it is seen at each look what they have mapped; the next time of the next ones.
_MAPPED = 8
# Memory that grows by so many parts of its bound between two looks may pass it before the next.
_GROWS = 8
_DEPTH = 64
# A folder with more files than this counts as too large: each look goes through them.
_KEPT_FILES = 10_000
# Counted for a folder that cannot be looked into: above any bound.
HIDDEN = 1 << 50


class Usage:
    """Peaks of memory and disk in bytes; processor time in ms.

    `group` is what the kernel says of its control group at the end, its files in memory included; 0 without.
    """

    def __init__(self, tool: Tool, limits: dict[str, float]) -> None:
        self._tool, self._limits = tool, limits
        self.memory = self.disk = self.group = 0
        self._cpu_s = self._before_s = 0.0
        self._now = 0
        # As they were seen when the disk was looked at; where a tool has a network of its own, that tells.
        self._sockets = 0
        # What the kernel keeps for the mappings of each process, as it was last seen.
        self._mapped: dict[int, int] = {}
        # Whether its memory grew so much since the look before that the next one is urgent.
        self.is_growing = False

    @property
    def cpu_ms(self) -> float:
        """Processor time of the whole tree since it began, as seen or as the kernel says of those reaped."""
        return (max(self._cpu_s, self._tool.reaped_s()) - self._before_s) * 1000

    def begin(self) -> None:
        """What was used until now was for getting ready, and counts no more."""
        self._count_cpu(_entries(self._tool.processes()))
        self._before_s, self.memory = self._cpu_s, 0

    def look(self) -> str | None:
        """Looks once; the bound that is passed (memory, cpu, disk), or None."""
        pids = self._tool.processes()
        entries = _entries(pids)
        self._count_cpu(entries)
        over, before = self.look_disk(pids), self._now
        self._now = self._memory(pids, sum(each.resident for each in entries))
        self.is_growing = self._now - before > self._limits["memory_bytes"] // _GROWS
        if self._now > self._limits["memory_bytes"]:
            return "memory"
        cpu = self._limits.get("cpu_ms")
        return "cpu" if cpu and self.cpu_ms > cpu else over

    def _count_cpu(self, entries: list[tree.Entry]) -> None:
        used = self._tool.reaped_s() + sum(each.cpu_s for each in entries)
        # What came and went between two looks is known to its group alone.
        self._cpu_s = max(self._cpu_s, used, self._tool.group.cpu_s() if self._tool.group else 0)

    def _memory(self, pids: list[int], resident: int) -> int:
        first = self._tool.first
        beside = kernel.network_bytes(first) if first else kernel.sockets_bytes(self._sockets)
        beside += sum(map(kernel.tables_of, pids)) + self._mappings(pids) + kernel.locks_bytes(pids)
        now = resident + beside
        if now > self._limits["memory_bytes"] or len(pids) <= _EXACT:
            now = sum(map(tree.share_of, pids)) + beside
        self.memory = max(self.memory, now)
        return now

    def _mappings(self, pids: list[int]) -> int:
        there = set(pids)
        known = {pid: used for pid, used in self._mapped.items() if pid in there}
        # Those that were not seen come first, then those that were seen longest ago.
        for pid in [*(there - known.keys()), *known][:_MAPPED]:
            known.pop(pid, None)
            known[pid] = kernel.mappings_of(pid)
        self._mapped = known
        return sum(known.values())

    def look_disk(self, pids: list[int]) -> str | None:
        """Looks at folders and at open files without a name; "disk" or "folder" if it is too much."""
        for kept, most in self._tool.kept:
            used, files = _used_beneath(kept, _KEPT_FILES)
            nameless, _ = _open_of(pids, os.fstat(kept).st_dev)
            if used + nameless > most or files > _KEPT_FILES:
                return "folder"
        if self._tool.work < 0:
            return None
        if self._tool.shared >= 0:
            used, files = _used_of(self._tool.work)
            shared, more = _used_of(self._tool.shared)
            used, files = used + shared, files + more
        else:
            used, files = _used_beneath(self._tool.work, int(self._limits["files"]))
            nameless, self._sockets = _open_of(pids, os.fstat(self._tool.work).st_dev)
            used += nameless
        self.disk = max(self.disk, used)
        over = used > self._limits["disk_bytes"] or files > self._limits["files"]
        return "disk" if over else None

    def end(self) -> str | None:
        """After all processes are reaped: what the kernel counted of them; a bound that was passed unseen."""
        peak = self._tool.peak_bytes()
        if group := self._tool.group:
            self._count_cpu([])
            self.group = group.peak_bytes()
            if group.was_ended():
                return "memory"
        self.memory = self.memory or peak
        passed = peak > self._limits["memory_bytes"] + (32 << 20)
        if passed:
            self.memory = max(self.memory, peak)
        return "memory" if passed else self.look_disk([])


def _entries(pids: list[int]) -> list[tree.Entry]:
    return [each for each in map(tree.entry, pids) if each is not None]


def _used_of(descriptor: int) -> tuple[int, int]:
    """Bytes and files of a file system that is the tool's alone."""
    state = os.fstatvfs(descriptor)
    return (state.f_blocks - state.f_bfree) * state.f_frsize, state.f_files - state.f_ffree


def _used_beneath(descriptor: int, most: int) -> tuple[int, int]:
    """Bytes and files beneath a folder; too many or too deep ones count as one more than `most`."""
    total = count = 0
    pending = [(os.dup(descriptor), 0)]
    try:
        while pending:
            folder, depth = pending.pop()
            try:
                with os.scandir(folder) as entries:
                    for each in entries:
                        count += 1
                        if count > most or depth > _DEPTH:
                            return total, most + 1
                        total += _size_of(each, folder, depth, pending)
            finally:
                os.close(folder)
    finally:
        for folder, _ in pending:
            os.close(folder)
    return total, count


def _open_of(pids: list[int], device: int) -> tuple[int, int]:
    """Bytes of files on the work folder's disk that are open without a name; and how many sockets are."""
    sizes: dict[int, int] = {}
    sockets: set[int] = set()
    # Each thread may have a table of its own, and the first one may have ended.
    for pid in pids:
        for place in tree.threads(pid):
            try:
                numbers = os.listdir(f"{place}/fd")
            except OSError as error:
                if error.errno == errno.EACCES and not tree.is_ending(place):
                    return HIDDEN, len(sockets)
                continue
            for number in numbers:
                _count_open(f"{place}/fd/{number}", device, sizes, sockets)
    return sum(sizes.values()), len(sockets)


def _count_open(path: str, device: int, sizes: dict[int, int], sockets: set[int]) -> None:
    try:
        held = os.stat(path)
    except OSError:  # closed meanwhile
        return
    if stat.S_ISREG(held.st_mode) and held.st_nlink == 0 and held.st_dev == device:
        sizes[held.st_ino] = held.st_blocks * 512
    elif stat.S_ISSOCK(held.st_mode):
        sockets.add(held.st_ino)


def _size_of(each: os.DirEntry[str], folder: int, depth: int, pending: list[tuple[int, int]]) -> int:
    try:
        size = each.stat(follow_symlinks=False).st_blocks * 512
        if each.is_dir(follow_symlinks=False):
            flags = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            pending.append((os.open(each.name, flags, dir_fd=folder), depth + 1))
    except OSError as error:
        # Gone or swapped meanwhile; anything else hides what is inside, which no honest tool needs.
        return 0 if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP} else HIDDEN
    return size
