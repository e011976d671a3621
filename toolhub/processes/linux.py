"""prctl(2), and who is below a process, by Linux's means; elsewhere nothing of it."""

import ctypes
import os
import sys

SET_PDEATHSIG, SET_NAME, SET_CHILD_SUBREAPER = 1, 15, 36
LINUX = sys.platform.startswith("linux")


def prctl(option: int, value: int | bytes) -> None:
    """Sets something of this process. Raises OSError; does nothing elsewhere."""
    if LINUX and ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl failed")


def descendants(root: int) -> list[int]:
    """Every process below `root`, from /proc; empty where there is none."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if LINUX else ():
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(name))
    found, level = [], [root]
    while level:
        level = [child for parent in level for child in children.get(parent, ())]
        found += level
    return found


def session(number: int) -> list[int]:
    """Every process of a session but its first."""
    found = []
    for name in os.listdir("/proc") if LINUX else ():
        try:
            if name.isdigit() and int(name) != number and os.getsid(int(name)) == number:
                found.append(int(name))
        except (ProcessLookupError, PermissionError):
            continue
    return found
