"""Whether the files are there that a manifest names, and whether its requirements are only names."""

from collections.abc import Iterator, Mapping
from typing import Any

from toolhub_sdk.checks.node import LOCK, UnfitLock, node_lock_named
from toolhub_sdk.checks.requirements import RequirementsError, requirements_read
from toolhub_sdk.package import CONTRACT
from toolhub_sdk.problem import Problem, pointer
from toolhub_sdk.runtimes.registry import runtime_of
from toolhub_sdk.runtimes.traits import Packages


def file_problems(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> Iterator[Problem]:
    """What is wrong with the files (path → bytes) of a manifest without problems."""
    runtime = runtime_of(manifest["runtime"]["type"])
    named = {"/icon": manifest.get("icon"), "/runtime/requires": manifest["runtime"].get("requires")}
    for index, definition in enumerate(manifest["tools"]):
        document = definition.get("_meta", {}).get(CONTRACT, {}).get("documentation")
        named[pointer(["tools", index, "_meta", CONTRACT, "documentation"])] = document
    own = runtime.files(manifest["runtime"])
    for place, path in {**named, **own}.items():
        if path is not None and path not in files:
            remedy = runtime.missing_remedy(path) if place in own else "Add it, or mend the name."
            yield Problem(place, f"The package has no file {path}.", remedy)
    yield from runtime.file_problems(manifest["runtime"], files)


def requirement_problems(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> Iterator[Problem]:
    """What is wrong with the requirements that a manifest without problems names, if they are there."""
    path, at = manifest["runtime"].get("requires", ""), "/runtime/requires"
    if path not in files:
        return
    try:
        if runtime_of(manifest["runtime"]["type"]).packages is Packages.NODE:
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
