"""The runtimes that there are: those of this package, and those of the folders in TOOLHUB_RUNTIMES."""

import importlib
import re
from collections.abc import Iterator, Mapping

from toolhub_sdk.runtimes.folders import RuntimesError, folder_package, folders_set
from toolhub_sdk.runtimes.traits import Runtime

# Modules beside this one, in the order in which the manifest's schema lists them. Each has a RUNTIME.
BUNDLED = ("python", "command", "wasm", "container", "vm", "http", "builtin")

_NAME = re.compile(r"[a-z][a-z0-9]{0,15}")


class UnknownRuntime(LookupError):
    """No runtime has this name. `code` is the error's code."""

    code = "RUNTIME_UNKNOWN"

    def __init__(self, name: str, known: Mapping[str, Runtime]) -> None:
        super().__init__(f"There is no runtime {name[:16]!r}. Known are {', '.join(known)}.")


class _Runtimes(dict[str, Runtime]):
    """The runtimes by name, loaded when the first is asked for. An unknown name raises UnknownRuntime."""

    def __missing__(self, name: str) -> Runtime:
        if not self:
            self.load()
            return self[name]
        raise UnknownRuntime(name, self)

    def load(self) -> "_Runtimes":
        """Loads them once. Raises RuntimesError for a folder of TOOLHUB_RUNTIMES that cannot be used."""
        if not self:
            made: dict[str, Runtime] = {}
            for found in _found():
                if not _NAME.fullmatch(found.name) or found.name in made:
                    raise RuntimesError(
                        f"The runtime name {found.name!r} is taken, or is not a small letter and at most 15 "
                        "small letters and digits. Give the runtime another name."
                    )
                made[found.name] = found
            self.update(made)
        return self


def _found() -> Iterator[Runtime]:
    for name in BUNDLED:
        yield importlib.import_module(f"{__package__}.{name}").RUNTIME
    for folder in folders_set():
        made = getattr(importlib.import_module(f"{folder_package(folder)}.sdk"), "RUNTIME", None)
        if not isinstance(made, Runtime):
            raise RuntimesError(
                f"{folder}/sdk.py has no RUNTIME that is a toolhub_sdk.runtimes.traits.Runtime."
            )
        yield made


_RUNTIMES = _Runtimes()


def runtimes() -> Mapping[str, Runtime]:
    """All runtimes by name, in the order of the manifest's schema. Raises RuntimesError."""
    return _RUNTIMES.load()


def runtime_of(name: str) -> Runtime:
    """The runtime of this name. Raises UnknownRuntime."""
    return _RUNTIMES[name]


def runtime_find(name: str) -> Runtime | None:
    """The runtime of this name; None where there is none."""
    return runtimes().get(name)


def own_runtime() -> Runtime:
    """The runtime of the hub's own tools."""
    return next(each for each in runtimes().values() if each.is_own)
