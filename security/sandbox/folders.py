"""Folders of this machine that tools may be given by name, and the folders of sessions."""

import hashlib
import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

# Where they stand inside; a variable of each name says where, at whatever level.
INSIDE = "/folders"
SESSION = "session"
_ENTRY = re.compile(r"([a-z][a-z0-9_-]{0,62})=(/[^:]*)(:rw)?")
_SWEPT_EVERY_S = 3600.0
# A run's own folder is used for a day at most: that is the longest time limit.
_WORK_S = 2 * 86_400
# When this process swept last, by the monotonic clock; empty before the first time.
_swept_at: list[float] = []


@dataclass(frozen=True)
class Folder:
    """A named folder: where it is on this machine, and whether tools may be let write in it."""

    name: str
    path: str
    writable: bool

    @property
    def is_there(self) -> bool:
        return os.path.isdir(self.path)


def folder_read(text: str) -> Folder:
    """One entry of TOOLHUB_FOLDERS: `reports=/srv/reports`, `drop=/srv/drop:rw`. Raises ValueError."""
    found = _ENTRY.fullmatch(text)
    if not found:
        raise ValueError(f"{text} is not NAME=/PATH or NAME=/PATH:rw")
    name, path, writable = found[1], os.path.normpath(found[2]), bool(found[3])
    if name == SESSION:
        raise ValueError(f"{SESSION} names the folder of a session")
    if path == "/":
        raise ValueError("the whole machine cannot be named")
    return Folder(name, path, writable)


def outside(folder: Path, data: Path) -> None:
    """Raises ValueError for a folder inside another, where files of packages and of tools lie."""
    if folder.resolve().is_relative_to(data.resolve()):
        raise ValueError(f"{folder} is inside {data}, where packages and tools write")


def folders() -> dict[str, Folder]:
    """The folders that this hub's admin named."""
    return {each.name: each for each in map(folder_read, settings.FOLDERS)}


def inside(name: str) -> str:
    """Where the folder of this name is for a tool."""
    return f"{INSIDE}/{name}"


def variable(name: str) -> str:
    """The environment variable that says so."""
    return f"TOOLHUB_FOLDER_{name.upper().replace('-', '_')}"


def session_folder(persona_id: int, session: str, package: str) -> str:
    """The folder of a persona's session for a package on this machine, made when it is first asked for."""
    folder = _session_path(persona_id, session) / hashlib.sha256(package.encode()).hexdigest()[:32]
    folder.mkdir(mode=0o711, parents=True, exist_ok=True)
    os.utime(folder.parent)
    return str(folder)


def session_folder_remove(persona_id: int, session: str) -> None:
    """Removes what a session left on this machine."""
    _remove(str(_session_path(persona_id, session)))


def stale_sweep(*, now: bool = False) -> int:
    """Removes folders of runs whose end nobody saw, and of sessions that are over; how many. Once an hour."""
    if not now and _swept_at and time.monotonic() - _swept_at[0] < _SWEPT_EVERY_S:
        return 0
    _swept_at[:] = [time.monotonic()]
    aged = (("sandbox", _WORK_S), ("sessions", settings.SESSION_HOURS * 3600))
    return sum(_sweep(Path(settings.DATA) / name, seconds) for name, seconds in aged)


def _sweep(above: Path, seconds: float) -> int:
    removed = 0
    if above.is_dir():
        with os.scandir(above) as entries:
            for each in entries:
                if each.stat(follow_symlinks=False).st_mtime < time.time() - seconds:
                    _remove(each.path)
                    removed += 1
    return removed


def _session_path(persona_id: int, session: str) -> Path:
    name = hashlib.sha256(f"{persona_id} {session}".encode()).hexdigest()[:32]
    above = Path(settings.DATA) / "sessions"
    above.mkdir(mode=0o711, exist_ok=True)
    return above / name


def _remove(path: str) -> None:
    """Not by Python: its way down is recursive, and a tool can nest folders without end."""
    if os.path.isdir(path):
        subprocess.run([shutil.which("rm") or "/bin/rm", "-rf", "--", path], check=False)
