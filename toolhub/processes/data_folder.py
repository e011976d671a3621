"""The data folder of one hub: private, with room, and used by one hub at a time."""

import errno
import fcntl
import os
import shutil
import time
from pathlib import Path

SPACE_MB = 200
# A hub that was killed takes this long to end its processes.
PATIENCE_S = 15.0


class DataFolderError(Exception):
    """The message is a sentence for the person who starts the hub."""


def folder_prepare(folder: Path) -> None:
    """Makes the folder (mode 0700) and checks that it can be written and has room."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        free = shutil.disk_usage(folder).free // 1_000_000
    except OSError as error:
        raise DataFolderError(
            f"The data folder {folder} cannot be made ({error.strerror}). Choose one with TOOLHUB_DATA."
        ) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise DataFolderError(f"The data folder {folder} cannot be written. Choose one with TOOLHUB_DATA.")
    if free < SPACE_MB:
        raise DataFolderError(
            f"Not enough disk space for {folder}: {free} MB are free, {SPACE_MB} MB are needed. "
            "Free some, or choose another folder with TOOLHUB_DATA."
        )


def folder_lock(folder: Path) -> int:
    """Takes the folder for this hub; gives the file descriptor that holds the lock.

    The guards inherit it, so that the lock lasts until the last process of a killed hub has ended.
    Raises DataFolderError when another hub keeps it.
    """
    lock = os.open(folder / "hub.lock", os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(lock, 20, 0).decode(errors="replace").strip()
            alive = holder.isdigit() and Path(f"/proc/{holder}").exists()
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES) or alive or time.monotonic() > deadline:
                os.close(lock)
                raise DataFolderError(
                    f"The data folder {folder} is in use by another ToolHub (process {holder or 'unknown'}). "
                    "Stop that, or choose another folder: TOOLHUB_DATA=folder make run"
                ) from error
            time.sleep(0.2)
        else:
            os.ftruncate(lock, 0)
            os.pwrite(lock, str(os.getpid()).encode(), 0)
            return lock
