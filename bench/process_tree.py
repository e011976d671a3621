"""Memory and processor time of a tree of processes, from /proc (Linux).

PSS counts shared pages once over all processes. Processor time tells what a call costs even where
others use the machine at the same time.
"""

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
# What the kernel calls a program of `manage.py up`; its children belong to it.
NAMES = ("web", "worker", "steward")
OTHERS = "supervisor and guards"


def pss_mb(root: int) -> dict[str, float]:
    """PSS in MB (10⁶ bytes) of `root` and all below it, by program; empty where /proc does not tell."""
    found: dict[str, float] = defaultdict(float)
    for pid, name in _tree(root):
        found[name] += _pss_bytes(pid) / 1e6
    return dict(found) if found[OTHERS] else {}


def cpu_s(root: int) -> float:
    """Processor seconds of `root` and all below it, children that ended included; 0 where unknown."""
    return sum(_cpu_ticks(pid) for pid, _ in _tree(root)) / os.sysconf("SC_CLK_TCK")


def _tree(root: int) -> Iterator[tuple[int, str]]:
    children = _children()
    level = [(root, OTHERS)]
    while level:
        below = []
        for pid, inherited in level:
            name = _name(pid, inherited)
            yield pid, name
            below += [(child, name) for child in children.get(pid, ())]
        level = below


def _cpu_ticks(pid: int) -> int:
    """utime, stime, cutime and cstime of proc_pid_stat(5)."""
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return 0
    return sum(map(int, text.rpartition(")")[2].split()[11:15]))


def _children() -> dict[int, list[int]]:
    children: dict[int, list[int]] = defaultdict(list)
    for stat in PROC.glob("[0-9]*/stat"):
        try:
            text = stat.read_text(errors="replace")
        except OSError:
            continue
        children[int(text.rpartition(")")[2].split()[1])].append(int(stat.parent.name))
    return children


def _name(pid: int, inherited: str) -> str:
    try:
        called = (PROC / str(pid) / "comm").read_text(errors="replace").strip()
    except OSError:
        return inherited
    return called if inherited == OTHERS and called in NAMES else inherited


def _pss_bytes(pid: int) -> int:
    try:
        lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
