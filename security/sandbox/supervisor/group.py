"""A control group for one run (cgroups(7), version 2), in the part of the tree that the worker found.

What the kernel itself holds all of a run's processes to. What does so where no part of the tree is the hub's
stands in usage.py and sweep.py, and stays in force beside it.
"""

import os
import select
import time

# Beside its own memory a run's group is charged for what the kernel keeps for it.
KERNEL_BYTES = 48 << 20
_PERIOD_US = 100_000
# How long the kernel may take to end what is in a group, in seconds.
_END_S = 10.0


class Group:
    """A group that was made; `holds` names what it holds: cpu, kill, memory, pids."""

    def __init__(self, path: str, controllers: "tuple[str, ...]") -> None:
        """Makes it. Raises OSError."""
        os.mkdir(path, 0o755)
        self.path = path
        self.holds = sorted({*controllers, *({"kill"} if os.path.exists(f"{path}/cgroup.kill") else ())})

    def bound(self, *, memory: int, processes: int, cpus: float) -> None:
        """Writes the bounds: bytes, processes and threads, cores at a time (0 for all of them).

        What grows past its memory is ended whole, so that no half of a tool goes on.
        """
        if "memory" in self.holds:
            self._write("memory.max", str(memory + KERNEL_BYTES))
            self._write("memory.oom.group", "1")
            if os.path.exists(f"{self.path}/memory.swap.max"):
                self._write("memory.swap.max", "0")
        if "pids" in self.holds:
            self._write("pids.max", str(processes))
        if "cpu" in self.holds and cpus:
            self._write("cpu.max", f"{int(cpus * _PERIOD_US)} {_PERIOD_US}")

    def enter(self) -> None:
        """Moves the process that asks."""
        self.take(0)

    def take(self, pid: int) -> None:
        """Moves a process; what comes of it later is born here."""
        self._write("cgroup.procs", str(pid))

    def cpu_s(self) -> float:
        """Processor time of all that were ever in it, in seconds."""
        return self._fields("cpu.stat").get("usage_usec", 0) / 1e6

    def peak_bytes(self) -> int:
        """The most memory that it was charged for, files in memory with it; 0 where that is not known."""
        text = self._read("memory.peak")
        return int(text) if text.strip().isdigit() else 0

    def was_ended(self) -> bool:
        """Whether the kernel ended it for its memory."""
        return self._fields("memory.events").get("oom_kill", 0) > 0

    def end(self) -> None:
        """Ends whatever is in it, at once: nothing in it can make another process meanwhile."""
        if "kill" in self.holds:
            self._write("cgroup.kill", "1")

    def remove(self) -> None:
        """Removes it, once the kernel has ended what was in it. One that will not be empty is left."""
        ends = time.monotonic() + _END_S
        while True:
            try:
                os.rmdir(self.path)
            except FileNotFoundError:
                return
            except OSError:
                if time.monotonic() > ends:
                    return
                select.select([], [], [], 0.001)
            else:
                return

    def _fields(self, name: str) -> "dict[str, int]":
        words = self._read(name).split()
        return {words[at].decode(): int(words[at + 1]) for at in range(0, len(words) - 1, 2)}

    def _read(self, name: str) -> bytes:
        try:
            descriptor = os.open(f"{self.path}/{name}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return b""
        try:
            return os.read(descriptor, 4096)
        finally:
            os.close(descriptor)

    def _write(self, name: str, text: str) -> None:
        descriptor = os.open(f"{self.path}/{name}", os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)
