"""Prints the manifest of a module's tools as JSON: `python -m …describe FOLDER MODULE RUNTIME`."""

import importlib
import json
import os
import sys
import traceback

from toolhub_sdk.package import Package, manifest_of, tools_of


def main() -> None:
    """Prints what the module makes. Where that fails, the last line of its errors says why and where."""
    folder, name, runtime = sys.argv[1:]
    try:
        describe(folder, name, runtime)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it was, the author hears of it
        traceback.print_exc()
        print(f"{type(error).__name__}: {error}".replace("\n", " ") + _place(error, folder), file=sys.stderr)
        sys.exit(1)


def _place(error: BaseException, folder: str) -> str:
    """File and line of the package where it happened, if any."""
    if isinstance(error, SyntaxError):
        return ""  # it says so itself
    frames = traceback.extract_tb(error.__traceback__)
    inside = [each for each in frames if each.filename.startswith(f"{folder}{os.sep}")]
    return f" ({os.path.relpath(inside[-1].filename, folder)}, line {inside[-1].lineno})" if inside else ""


def describe(folder: str, name: str, runtime: str) -> None:
    """Prints the whole manifest where the module has a PACKAGE, else runtime and tools."""
    # What the module prints does not mix with the answer.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.path.insert(0, folder)
    module = importlib.import_module(name)
    package = getattr(module, "PACKAGE", None)
    if isinstance(package, Package):
        made = manifest_of(module, package, runtime=runtime)
    else:
        made = {
            "manifestVersion": "1",
            "runtime": {"type": runtime, "entry": name},
            "tools": tools_of(module),
        }
    json.dump(made, answer, ensure_ascii=False)
    answer.flush()


if __name__ == "__main__":
    main()
