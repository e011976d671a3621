"""A package as it lies in a folder: its files, and its manifest, which may be written in Python."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolhub_sdk.checks.contents import LEFT_OUT, MANIFEST
from toolhub_sdk.runtimes.registry import runtime_of, runtimes
from toolhub_sdk.stop import StopError
from toolhub_sdk.strict_json import StrictJSONError, line_of, loads


def files_read(folder: Path) -> dict[str, bytes]:
    """The package's files by their path: without what LEFT_OUT names, compiled Python and the folder `dist`.

    Raises StopError for links and special files, which no package may hold.
    """
    if not folder.is_dir():
        raise StopError(f"There is no folder {folder}.", 2)
    found = {}
    for root, folders, names in os.walk(folder):
        here = Path(root)
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
        if here == folder and "dist" in folders:
            folders.remove("dist")
        for name in (*folders, *names):
            if (here / name).is_symlink():
                raise StopError(
                    f"{(here / name).relative_to(folder)} is a link; a package holds plain files."
                )
        for name in sorted(names):
            if name in LEFT_OUT or name.endswith(".pyc"):
                continue
            if not (here / name).is_file():
                raise StopError(f"{(here / name).relative_to(folder)} is no plain file.")
            found[(here / name).relative_to(folder).as_posix()] = (here / name).read_bytes()
    return found


def manifest_load(folder: Path, files: dict[str, bytes]) -> dict[str, Any]:
    """The whole manifest. What toolhub.json leaves out comes from the package's code, where its runtime can
    describe that: the tools that `@tool` makes, and what PACKAGE says.

    Raises StopError where there is nothing to read or the code cannot be imported.
    """
    written = manifest_written(files)
    if written is not None and "tools" in written:
        return written
    named = (written or {}).get("runtime", {})
    name = named.get("type", "") if isinstance(named, dict) else None
    for runtime in runtimes().values():
        if runtime.describes and name in ("", runtime.name):
            entry = named.get("entry") or runtime.entry_find(files)
            return {**runtime.describe(folder, str(entry)), **(written or {})}
    return written or {}


def manifest_written(files: dict[str, bytes]) -> dict[str, Any] | None:
    """toolhub.json as it is; None where there is none. Raises StopError for one that cannot be read."""
    if MANIFEST not in files:
        return None
    try:
        read = loads(files[MANIFEST])
    except StrictJSONError as error:
        place = line_of(files[MANIFEST], error)
        raise StopError(f"{MANIFEST} cannot be read{place}: {error.message}") from None
    if not isinstance(read, dict):
        raise StopError(f"{MANIFEST} is no JSON object.")
    return read


def module_says(folder: Path, runtime: Mapping[str, Any]) -> dict[str, Any]:
    """The members of a manifest that the package's code has a word for. Raises StopError."""
    made = runtime_of(runtime["type"]).describe(folder, runtime["entry"])
    return {name: value for name, value in made.items() if value}
