"""Folders that one process works in: each is held by a lock that ends with the process, so that others can
tell what a killed one has left behind."""

import fcntl
import os
import secrets
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# A new folder is locked within moments; it is let alone for so long.
SETTLED_S = 60.0
DEPTH_MAX = 100


@contextmanager
def scratch(above: Path, name: str) -> Iterator[Path]:
    """A new hidden folder below `above`, for this account only; removed at the end, unless it was renamed."""
    above.mkdir(parents=True, exist_ok=True, mode=0o755)
    folder = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=above))
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield folder
    finally:
        _remove(folder)
        os.close(held)


def scratch_sweep(above: Path) -> int:
    """Removes the scratch folders below `above` whose process has ended; returns how many those were."""
    return sum(_sweep(one) for one in _entries(above) if one.name.startswith("."))


def folder_remove(folder: Path) -> None:
    """Takes a folder away: at once for all who look for it, then its files."""
    gone = folder.with_name(f".gone-{secrets.token_hex(8)}")
    with suppress(FileNotFoundError):
        folder.rename(gone)
        _remove(gone)


def folders_older(above: Path, seconds: float) -> list[Path]:
    """The finished folders below `above` that were put there so long ago."""
    return _older(_entries(above), seconds)


def files_older(above: Path, seconds: float) -> list[Path]:
    """The same of plain files."""
    found = [one for one in above.iterdir() if one.is_file()] if above.is_dir() else []
    return _older(found, seconds)


def _older(entries: list[Path], seconds: float) -> list[Path]:
    found = []
    for one in entries:
        with suppress(FileNotFoundError):
            if not one.name.startswith(".") and _age(one.lstat().st_ctime) >= seconds:
                found.append(one)
    return found


def folder_bytes(folder: Path, most: int) -> int:
    """The bytes of all files below a folder, counted no further than beyond `most`.

    What is nested deeper than DEPTH_MAX counts as too much. What vanishes meanwhile does not count.
    """
    total, pending = 0, [(os.fspath(folder), 0)]
    while pending and total <= most:
        path, depth = pending.pop()
        if depth > DEPTH_MAX:
            return most + 1
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append((entry.path, depth + 1))
                with suppress(FileNotFoundError):
                    total += entry.stat(follow_symlinks=False).st_size
    return total


def _entries(above: Path) -> list[Path]:
    try:
        return [one for one in above.iterdir() if one.is_dir() and not one.is_symlink()]
    except FileNotFoundError:
        return []


def _age(moment: float) -> float:
    """Seconds since a moment; one that lies ahead is of a wrong clock, and long ago."""
    seconds = time.time() - moment
    return seconds if seconds >= 0 else float("inf")


def _sweep(folder: Path) -> bool:
    try:
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        if _age(os.fstat(held).st_mtime) < SETTLED_S:
            return False
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(folder)
        return True
    except BlockingIOError:
        return False
    finally:
        os.close(held)


def _remove(folder: Path) -> None:
    """Not by Python: its way down is recursive, and a package can nest folders deep."""
    if folder.exists():
        subprocess.run(["rm", "-rf", "--", str(folder)], check=False, stdin=subprocess.DEVNULL)
