"""Finds the runtimes of this hub: those of this folder, and those of the folders in TOOLHUB_RUNTIMES."""

import importlib
from collections.abc import Iterator

from execution.engine.queues import QUEUES
from execution.engine.runtimes import Runtime
from toolhub_sdk.runtimes.folders import RuntimesError, folder_package, folders_set
from toolhub_sdk.runtimes.registry import runtimes

# Modules beside this one. Each has a RUNTIME; the SDK has one of the same name.
BUNDLED = ("builtin", "command", "container", "http", "python", "vm", "wasm")


def runtimes_find() -> list[Runtime]:
    """All runtimes. Raises RuntimesError for one without a part in the SDK or a known queue."""
    declared = runtimes()
    made = {found.name: found for found in _found()}
    for name in declared.keys() ^ made.keys():
        where = "the SDK" if name in made else "the hub"
        raise RuntimesError(f"The runtime {name} has no part in {where}. See docs/runtimes.md.")
    for each in made.values():
        if each.queue not in QUEUES:
            known = ", ".join(QUEUES)
            raise RuntimesError(f"The runtime {each.name} has the queue {each.queue!r}, not {known}.")
    return list(made.values())


def _found() -> Iterator[Runtime]:
    for name in BUNDLED:
        yield importlib.import_module(f"{__package__}.{name}").RUNTIME
    for folder in folders_set():
        made: Runtime | None = None
        if (folder / "hub.py").is_file():
            made = getattr(importlib.import_module(f"{folder_package(folder)}.hub"), "RUNTIME", None)
        if made is None:
            raise RuntimesError(f"{folder}/hub.py has no RUNTIME. See docs/runtimes.md.")
        yield made
