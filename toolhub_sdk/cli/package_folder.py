"""A package as it lies in a folder: its files, and its manifest, which may be written in Python."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from toolhub_sdk.checks.contents import LEFT_OUT, MANIFEST
from toolhub_sdk.cli.stop import StopError
from toolhub_sdk.strict_json import StrictJSONError, line_of, loads

SDK = Path(__file__).parents[2]
DESCRIBE_S = 60.0


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
    """The whole manifest. What toolhub.json leaves out of a Python package comes from its module: the tools
    that `@tool` makes, and what its PACKAGE says.

    Raises StopError where there is nothing to read or the module cannot be imported.
    """
    written = manifest_written(files)
    if written is not None and "tools" in written:
        return written
    runtime = (written or {}).get("runtime", {})
    if isinstance(runtime, dict) and runtime.get("type", "python") == "python":
        module = runtime.get("entry") or _module(files)
        return {**describe(folder, str(module)), **(written or {})}
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


def module_says(folder: Path, module: str) -> dict[str, Any]:
    """The members of a manifest that a module of the package has a word for. Raises StopError."""
    return {name: value for name, value in describe(folder, module).items() if value}


def _module(files: dict[str, bytes]) -> str:
    """The one module at the top of the package that says PACKAGE."""
    tops = [path for path in files if path.count("/") <= 1 and path.endswith(".py")]
    found = [path for path in tops if b"PACKAGE" in files[path] and b"toolhub_sdk" in files[path]]
    found = [path for path in found if "/" not in path or path.endswith("/__init__.py")]
    if len(found) != 1:
        many = f"there are {len(found)}: {', '.join(found)}" if found else "there is none"
        raise StopError(f"No {MANIFEST} names the module with the tools, and of modules with PACKAGE {many}.")
    return found[0].removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def describe(folder: Path, module: str) -> dict[str, Any]:
    """The manifest that a module of the package makes, read in a process of its own.

    Raises StopError when it cannot be imported or has no tools.
    """
    words = [sys.executable, "-m", "toolhub_sdk.cli.describe", str(folder.resolve()), module]
    environment = {**os.environ, "PYTHONPATH": str(SDK), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            words, env=environment, capture_output=True, timeout=DESCRIBE_S, check=False, cwd=folder
        )
    except subprocess.TimeoutExpired:
        raise StopError(f"{module} took more than {DESCRIBE_S:.0f} s to import.") from None
    if done.returncode != 0:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        message = f"{module} cannot be read: {' '.join(last)}"
        if "ModuleNotFoundError" in message:
            message += ". Install what the package requires: pip install -r requirements.txt"
        raise StopError(message)
    made: dict[str, Any] = json.loads(done.stdout)
    return made
