"""The part of the machine's control groups that is the hub's, if any: each run gets a group of its own in it.

systemd gives one to a service with `Delegate=` and `DelegateSubgroup=`: then the worker's processes are in a
group beneath one that is the hub's. An admin may name another by TOOLHUB_CGROUP.
"""

import contextlib
import functools
import os
import secrets
import time
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

CONTROLLERS = ("cpu", "memory", "pids")
PREFIX = "toolhub-"
# A supervisor takes moments from making a group to being in it.
_SETTLED_S = 60.0


@dataclass(frozen=True)
class Delegation:
    """A folder of the tree in which groups may be made, and the controllers that those have.

    Without a folder `why` says what is missing.
    """

    folder: Path | None = None
    controllers: tuple[str, ...] = ()
    why: str = ""


@functools.cache
def delegation() -> Delegation:
    """What this process may use; looked for once."""
    if settings.CGROUP == "off":
        return Delegation(why="TOOLHUB_CGROUP is off")
    folder = Path(settings.CGROUP) if settings.CGROUP else _delegated()
    if folder is None:
        return Delegation(why="no part of them is the hub's")
    try:
        controllers = _switched_on(folder)
        _proved(folder)
    except OSError as error:
        return Delegation(why=f"no group can be made: {error.strerror}")
    groups_sweep(folder)
    return Delegation(folder, controllers)


def group_name() -> str:
    """A path for the group of a run, or of a zygote's runs; empty where none can be made."""
    found = delegation()
    return str(found.folder / f"{PREFIX}{secrets.token_hex(8)}") if found.folder else ""


def group_end(path: str) -> None:
    """Ends and removes what a supervisor that was killed has left of a run's groups."""
    if not path:
        return
    for each in Path(path).parent.glob(f"{Path(path).name}*"):
        _end(each)


def groups_sweep(folder: Path) -> None:
    """Removes empty groups whose worker died."""
    for each in folder.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            if each.stat().st_ctime < time.time() - _SETTLED_S:
                each.rmdir()


def _end(group: Path) -> None:
    with contextlib.suppress(OSError):
        (group / "cgroup.kill").write_text("1")
    for _ in range(200):
        try:
            return group.rmdir()
        except FileNotFoundError:
            return None
        except OSError:
            time.sleep(0.005)
    return None


def _delegated() -> Path | None:
    """The group above this process's own, where that was given to the hub and has no process of its own."""
    own = own_group()
    if own is None:
        return None
    above = own.parent
    if not (above / "cgroup.procs").is_file() or not _is_ours(above):
        return None
    return above if not (above / "cgroup.procs").read_bytes().strip() else None


def _is_ours(folder: Path) -> bool:
    """systemd marks what it delegates; to root the owner says nothing."""
    for mark in ("trusted.delegate", "user.delegate"):
        with contextlib.suppress(OSError):
            if os.getxattr(folder, mark) == b"1":
                return True
    return os.geteuid() != 0 and folder.stat().st_uid == os.geteuid()


def own_group() -> Path | None:
    """Where the group of this process is to be seen; None without version 2."""
    place = _line("/proc/self/cgroup", "0::")
    if place is None:
        return None
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines():
        before, _, after = line.partition(" - ")
        if after.startswith("cgroup2 "):
            root, mounted = before.split()[3:5]
            beneath = place.removeprefix(root.rstrip("/")).lstrip("/")
            return Path(mounted) / beneath
    return None


def _line(path: str, begins: str) -> str | None:
    with open(path, encoding="utf-8", errors="replace") as lines:
        return next((line.rstrip("\n")[len(begins) :] for line in lines if line.startswith(begins)), None)


def _switched_on(folder: Path) -> tuple[str, ...]:
    """Switches on, for the groups that will be made, those controllers that are there; which those are."""
    there = (folder / "cgroup.controllers").read_text().split()
    for name in CONTROLLERS:
        if name in there:
            # One that stays off is missing from what is read next.
            with contextlib.suppress(OSError):
                (folder / "cgroup.subtree_control").write_text(f"+{name}")
    on = (folder / "cgroup.subtree_control").read_text().split()
    return tuple(name for name in CONTROLLERS if name in on)


def _proved(folder: Path) -> None:
    """Makes a group and moves a process into it, as runs will. Raises OSError."""
    group = folder / f"{PREFIX}{secrets.token_hex(8)}"
    group.mkdir()
    pid = os.posix_spawn("/bin/sleep", ["sleep", "60"], {})
    try:
        (group / "cgroup.procs").write_text(str(pid))
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        _end(group)
