"""Memory of a tree of processes: PSS, which counts shared pages once over all of them (Linux)."""

from collections import defaultdict
from pathlib import Path

PROC = Path("/proc")
# What a command line tells about its process; its children belong to it.
NAMES = (("granian", "web"), ("celery", "worker"), ("steward", "steward"))
OTHERS = "supervisor and guards"


def pss_mb(root: int) -> dict[str, float]:
    """PSS in MB (10⁶ bytes) of `root` and all below it, by program; empty where /proc does not tell."""
    children = _children()
    found: dict[str, float] = defaultdict(float)
    level = [(root, OTHERS)]
    while level:
        below = []
        for pid, inherited in level:
            name = _name(pid, inherited)
            found[name] += _pss_bytes(pid) / 1e6
            below += [(child, name) for child in children.get(pid, ())]
        level = below
    return dict(found) if found[OTHERS] else {}


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
        command = (PROC / str(pid) / "cmdline").read_text(errors="replace")
    except OSError:
        return inherited
    # A guard's command line holds that of its program, too.
    if inherited != OTHERS or "guard.py" in command:
        return inherited
    return next((name for word, name in NAMES if word in command), inherited)


def _pss_bytes(pid: int) -> int:
    try:
        lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
