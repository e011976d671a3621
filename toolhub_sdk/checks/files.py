"""Whether the files are there that a manifest names, and whether its requirements are only names."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolhub_sdk.checks.node import LOCK, PACKAGE, UnfitLock, node_lock_read
from toolhub_sdk.checks.problem import Problem, pointer
from toolhub_sdk.package import CONTRACT

_WASM = b"\0asm\1\0\0\0"
_HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}\s*\\?\s*$")
_NAMED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\s*(?:\[[^\]]*\])?\s*(?:[=<>!~;(\\].*)?$")


def file_problems(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> Iterator[Problem]:
    """What is wrong with the files (path → bytes) of a manifest without problems."""
    runtime = manifest["runtime"]
    named = {"/icon": manifest.get("icon"), "/runtime/requires": runtime.get("requires")}
    for index, definition in enumerate(manifest["tools"]):
        document = definition.get("_meta", {}).get(CONTRACT, {}).get("documentation")
        named[pointer(["tools", index, "_meta", CONTRACT, "documentation"])] = document
    if runtime["type"] == "command":
        first = runtime["entry"] if isinstance(runtime["entry"], str) else runtime["entry"][0]
        is_file = isinstance(runtime["entry"], str) or "/" in first
        named["/runtime/entry"] = first.removeprefix("./") if is_file else None
        yield from _node_problems(runtime.get("requires"), files)
    if runtime["type"] == "wasm":
        named["/runtime/entry"] = runtime["entry"]
        content = files.get(runtime["entry"], _WASM)
        if not content.startswith(_WASM):
            message = f"{runtime['entry']} is no WebAssembly module."
            yield Problem("/runtime/entry", message, "Compile it to a module of WASI preview 1.")
    for place, path in named.items():
        if path is not None and path not in files:
            yield Problem(place, f"The package has no file {path}.", "Add it, or mend the name.")
    if runtime["type"] == "python":
        path = runtime["entry"].replace(".", "/")
        if f"{path}.py" not in files and f"{path}/__init__.py" not in files:
            message = f"The package has no module {runtime['entry']}."
            yield Problem("/runtime/entry", message, f"Add {path}.py, or mend the name.")
        if runtime.get("requires") in files:
            yield from _requirement_problems(files[runtime["requires"]])


def _node_problems(path: str | None, files: Mapping[str, bytes]) -> Iterator[Problem]:
    if path is None or path not in files:
        return
    folder, _, name = path.rpartition("/")
    try:
        if name != LOCK:
            raise UnfitLock(f"a command's packages are those of a {LOCK}")
        node_lock_read(files[path], files.get(f"{folder}/{PACKAGE}".lstrip("/")))
    except UnfitLock as error:
        remedy = f"Name packages by version, and write {LOCK} with npm install --package-lock-only."
        yield Problem("/runtime/requires", f"{path} is not taken: {error}.", remedy)


def _requirement_problems(content: bytes) -> Iterator[Problem]:
    for number, line in enumerate(content.decode(errors="replace").splitlines(), 1):
        text = line.split(" #")[0].strip()
        if not text or text.startswith("#") or _HASH.match(text):
            continue
        if not _NAMED.match(text) or "@" in text or "://" in text:
            message = f"Line {number} of the requirements is no name with a version."
            remedy = "Write name==version with its hashes; no options, addresses and paths."
            yield Problem("/runtime/requires", message, remedy)
