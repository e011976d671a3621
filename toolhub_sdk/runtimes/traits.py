"""The SDK's part of a runtime: its name, what a manifest says of it, and what is checked."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from toolhub_sdk.problem import Contradiction, Problem
from toolhub_sdk.runtimes.local import Answer, LocalCall

_NONE: Mapping[str, Any] = MappingProxyType({})


class ToolType(StrEnum):
    """The type of a tool, as callers read it and filter lists by it."""

    # Its code is installed on the hub.
    BUILTIN = "builtin"
    # It stands on a server of somebody else.
    EXTERNAL = "external"


class Packages(StrEnum):
    """What a package's `runtime.requires` lists."""

    # A requirements file of Python wheels.
    WHEELS = "wheels"
    # A package-lock.json of Node packages.
    NODE = "node"


class Runtime:
    """One runtime, as the SDK knows it. A subclass sets `name`, `properties` and what differs from below."""

    # The value of the manifest's `runtime.type`: small letters and digits, at most 16 characters.
    name: ClassVar[str]
    tool_type: ClassVar[ToolType] = ToolType.BUILTIN
    # Whether its tools are the hub's own code: trusted, published from the catalogue, never installed.
    is_own: ClassVar[bool] = False

    # JSON Schema of the members of the manifest's `runtime` beside `type`, and which of them must be there.
    # They may refer to the `$defs` of the manifest's schema.
    properties: ClassVar[Mapping[str, Any]] = _NONE
    required: ClassVar[tuple[str, ...]] = ()
    # Whether `runtime.entry` is a module, of which each tool's contract names a function.
    names_functions: ClassVar[bool] = False
    # The kinds of hooks that a contract may name (hooks.py).
    hooks: ClassVar[frozenset[str]] = frozenset()
    # What `runtime.requires` may list; None where the runtime takes no packages.
    packages: ClassVar[Packages | None] = None

    # JSON Schema of the members of a contract that only tools of this runtime have, and of the `$defs` that
    # these refer to. Each definition has a `title`, the heading of its table in docs/manifest.md.
    contract: ClassVar[Mapping[str, Any]] = _NONE
    definitions: ClassVar[Mapping[str, Any]] = _NONE
    # Members of the contract that contradict each other, and members of `contract` that make the promise
    # `deterministic` doubtful, each with a sentence that says why.
    contradictions: ClassVar[tuple[Contradiction, ...]] = ()
    doubts: ClassVar[Mapping[str, str]] = _NONE
    # Sentences for the list of checks in docs/manifest.md.
    notes: ClassVar[str] = ""

    # The folder of files from which `toolhub_sdk new --kind NAME` makes a package; None where there is none.
    template: ClassVar[Path | None] = None
    # Whether `describe` can make a manifest of the package's code.
    describes: ClassVar[bool] = False
    # Modules that an extra of the SDK installs: what the command does with each, its package, the extra.
    extras: ClassVar[Mapping[str, tuple[str, str, str]]] = _NONE

    def entry_of(self, runtime: Mapping[str, Any]) -> Any:
        """The value of a manifest's `runtime` that names what is carried out; None where it is missing."""
        return runtime.get("entry")

    def files(self, runtime: Mapping[str, Any]) -> Mapping[str, str]:
        """The files of the package that `runtime` names beside `requires`: JSON Pointer → path."""
        return {}

    def file_problems(self, runtime: Mapping[str, Any], files: Mapping[str, bytes]) -> Iterator[Problem]:
        """What is wrong with a package's files (path → bytes), beyond that those named are there."""
        yield from ()

    def code_problems(self, runtime: Mapping[str, Any], files: Mapping[str, bytes]) -> Iterator[Problem]:
        """What only a compiler finds in files without other problems. May import what `extras` names."""
        yield from ()

    def missing_remedy(self, path: str) -> str:
        """What an author can do about a file that `files` names and the package lacks."""
        return "Add it, or mend the name."

    def tool_problems(
        self, manifest: Mapping[str, Any], definition: Mapping[str, Any], at: str
    ) -> Iterator[Problem]:
        """What is wrong with one tool whose form is right and that stands at the JSON Pointer `at`."""
        yield from ()

    def header_templates(self, definition: Mapping[str, Any]) -> Mapping[str, str]:
        """The headers that a tool makes of settings, each with its text (setting_templates.py)."""
        return {}

    def call(self, call: LocalCall) -> Answer:
        """Calls a tool on the author's machine; with `arguments` None it is only looked for."""
        if call.arguments is None:
            return Answer()
        return Answer(
            error=f"tools of the runtime {self.name} are called by a hub alone: install the package."
        )

    def entry_find(self, files: Mapping[str, bytes]) -> str:
        """The entry of a package without a manifest. Raises StopError. Only where `describes`."""
        raise NotImplementedError(self.name)

    def describe(self, folder: Path, entry: str) -> dict[str, Any]:
        """The members of a manifest that the package's code has a word for. Raises StopError.

        Only where `describes`.
        """
        raise NotImplementedError(self.name)
