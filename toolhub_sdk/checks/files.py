"""Whether the files are there that a manifest names, and whether its requirements are only names."""

from collections.abc import Iterator, Mapping
from typing import Any

from toolhub_sdk.checks.node import LOCK, UnfitLock, node_lock_named
from toolhub_sdk.checks.problem import Problem, pointer
from toolhub_sdk.checks.requirements import RequirementsError, requirements_read
from toolhub_sdk.package import CONTRACT

_WASM = b"\0asm\1\0\0\0"


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
    if runtime["type"] == "wasm":
        named["/runtime/entry"] = runtime["entry"]
        content = files.get(runtime["entry"], _WASM)
        if not content.startswith(_WASM):
            message = f"{runtime['entry']} is no WebAssembly module."
            yield Problem("/runtime/entry", message, "Compile it to a module of WASI preview 1.")
    for place, path in named.items():
        if path is not None and path not in files:
            yield Problem(place, f"The package has no file {path}.", _remedy(place, path))
    if runtime["type"] == "python":
        path = runtime["entry"].replace(".", "/")
        if f"{path}.py" not in files and f"{path}/__init__.py" not in files:
            message = f"The package has no module {runtime['entry']}."
            bare = runtime["entry"].removesuffix(".py")
            meant = f"{bare.replace('.', '/')}.py" in files
            remedy = f"Write {bare}." if meant else f"Add {path}.py, or mend the name."
            yield Problem("/runtime/entry", message, remedy)


def _remedy(place: str, path: str) -> str:
    if place == "/runtime/entry" and " " in path:
        words = ", ".join(f'"{word}"' for word in path.split())
        return f"A command with arguments is a list: [{words}]."
    return "Add it, or mend the name."


def requirement_problems(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> Iterator[Problem]:
    """What is wrong with the requirements that a manifest without problems names, if they are there."""
    path, at = manifest["runtime"].get("requires", ""), "/runtime/requires"
    if path not in files:
        return
    try:
        if manifest["runtime"]["type"] == "command":
            node_lock_named(path, files)
        else:
            requirements_read(files[path].decode())
    except UnicodeDecodeError:
        yield Problem(at, "The requirements are not text in UTF-8.", "Save them as UTF-8.")
    except RequirementsError as error:
        yield Problem(at, str(error), "Write name==version with its hashes; no options, addresses and paths.")
    except UnfitLock as error:
        remedy = f"Name packages by version, and write {LOCK} with npm install --package-lock-only."
        yield Problem(at, f"{path} is not taken: {error}.", remedy)
