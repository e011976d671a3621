"""TOOLHUB_RUNTIMES: folders with further runtimes, each with the files `sdk.py` and `hub.py`.

Their code runs with all rights of the process that loads it. So only the environment of the process names
them, which the machine's operator sets: no page, no API and no package can. A folder that others can write is
refused.
"""

import importlib.util
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

VARIABLE = "TOOLHUB_RUNTIMES"
_WRITABLE = stat.S_IWGRP | stat.S_IWOTH


class RuntimesError(ValueError):
    """A folder that TOOLHUB_RUNTIMES names, or what it holds, cannot be used. The text says why."""


def folders_set() -> list[Path]:
    """The folders that the environment names. Raises RuntimesError."""
    try:
        return folders_read(os.environ.get(VARIABLE, ""))
    except RuntimesError as error:
        raise RuntimesError(f"{VARIABLE}: {error}.") from None


def folders_read(text: str) -> list[Path]:
    """The folders in a list that commas separate. Raises RuntimesError."""
    found = [folder_check(part.strip()) for part in text.split(",") if part.strip()]
    names = [folder.name for folder in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise RuntimesError(f"two folders have the name {twice}; give each another one")
    return found


def folder_check(text: str) -> Path:
    """One folder, by its path. Raises RuntimesError where it cannot be used."""
    folder = Path(text)
    if not folder.is_absolute():
        raise RuntimesError(f"{folder} is not absolute; write the path from / on")
    if not folder.name.isidentifier():
        raise RuntimesError(f"the folder's name {folder.name!r} is not one of letters, digits and _")
    for path in (folder, folder / "sdk.py"):
        if not path.exists():
            raise RuntimesError(f"{path} is not there")
    for path in (folder, *_python(folder)):
        found = path.stat()
        if found.st_mode & _WRITABLE or found.st_uid not in {0, os.geteuid()}:
            raise RuntimesError(
                f"others than root and this process's user can write {path}; give it to one of the two, and "
                "take the right to write from group and others (chmod go-w)"
            )
    return folder


def _python(folder: Path) -> Iterable[Path]:
    return sorted(folder.rglob("*.py"))


def folder_package(folder: Path) -> str:
    """The name of the Python package that a folder is loaded as; its files import each other by it."""
    name = f"toolhub_runtime_{folder.name}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_loader(name, loader=None, is_package=True)
        if spec is None:
            raise RuntimesError(f"{folder} cannot be loaded")
        package = importlib.util.module_from_spec(spec)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    return name
