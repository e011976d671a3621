"""`python -m toolhub_sdk.cli.describe FOLDER MODULE`: prints the manifest of a module's tools as JSON."""

import importlib
import json
import os
import sys

from toolhub_sdk.package import Package, manifest_of, tools_of


def main() -> None:
    """Prints what the module makes: the whole manifest where it has a PACKAGE, else runtime and tools."""
    folder, name = sys.argv[1:]
    # What the module prints does not mix with the answer.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.path.insert(0, folder)
    module = importlib.import_module(name)
    package = getattr(module, "PACKAGE", None)
    if isinstance(package, Package):
        made = manifest_of(module, package, runtime="python")
    else:
        made = {
            "manifestVersion": "1",
            "runtime": {"type": "python", "entry": name},
            "tools": tools_of(module),
        }
    json.dump(made, answer, ensure_ascii=False)
    answer.flush()


if __name__ == "__main__":
    main()
