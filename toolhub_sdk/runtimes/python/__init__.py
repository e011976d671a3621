"""The runtime python: typed functions of a module of the package."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from toolhub_sdk.problem import Problem
from toolhub_sdk.runtimes.local import SDK, Answer, LocalCall, json_of, last_line
from toolhub_sdk.runtimes.traits import Packages, Runtime
from toolhub_sdk.stop import StopError

MODULE_SCHEMA: Mapping[str, Any] = {
    "type": "string",
    "description": "The module that defines the tools, such as weather or weather.tools.",
    "pattern": "^[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*$",
    "maxLength": 200,
}
DESCRIBE_S = 60.0
_ENTRY = "import sys; sys.path.insert(0, sys.argv[1]); from toolhub_sdk.entry import main; main()"


class Python(Runtime):
    name = "python"
    properties = {
        "entry": MODULE_SCHEMA,
        "requires": {
            "$ref": "#/$defs/packagePath",
            "description": "A requirements file of the package: exact versions with hashes, no addresses.",
        },
    }
    required = ("entry",)
    names_functions = True
    hooks = frozenset({"validate", "schema", "shutdown"})
    packages = Packages.WHEELS
    notes = "**Hooks** are functions of a python package."
    template = Path(__file__).parent / "template"
    describes = True

    def file_problems(self, runtime: Mapping[str, Any], files: Mapping[str, bytes]) -> Iterator[Problem]:
        path = runtime["entry"].replace(".", "/")
        if f"{path}.py" not in files and f"{path}/__init__.py" not in files:
            message = f"The package has no module {runtime['entry']}."
            bare = runtime["entry"].removesuffix(".py")
            meant = f"{bare.replace('.', '/')}.py" in files
            remedy = f"Write {bare}." if meant else f"Add {path}.py, or mend the name."
            yield Problem("/runtime/entry", message, remedy)

    def call(self, call: LocalCall) -> Answer:
        """Calls the function, or checks that the functions are there that the contract names."""
        request: dict[str, Any] = {
            "function": call.contract.get("function", call.definition["name"]),
            "arguments": call.arguments or {},
            "context": {"tool": call.definition["name"]},
            "seconds": call.seconds,
            "look": {
                "hooks": call.contract.get("hooks", {}),
                "schema": call.definition["inputSchema"],
                "only": call.arguments is None,
            },
        }
        if call.contract.get("determinism") == "bounded":
            request["fixed"] = {"now": "2026-01-01T00:00:00+00:00", "seed": "1"}
        words = [sys.executable, "-c", _ENTRY, str(SDK), call.runtime["entry"], str(call.folder.resolve())]
        done = call.run(words, request)
        if isinstance(done, str):
            return Answer(error=done)
        lines = done.stdout.splitlines()
        last = json_of(lines[-1]) if lines else None
        if not isinstance(last, dict):
            return Answer(error=f"The tool ended with code {done.returncode}. {last_line(done.stderr)}")
        if "result" in last:
            return Answer(last["result"])
        if "error" in last:
            return Answer(error=f"{last['error']['code']}: {last['error']['message']}")
        if "unfit" in last:
            return Answer(error=" ".join(last["unfit"]))
        return Answer(error=f"It ended with {next(iter(last.values()))}. {last_line(done.stderr)}")

    def entry_find(self, files: Mapping[str, bytes]) -> str:
        """The one module at the top of the package that says PACKAGE."""
        tops = [path for path in files if path.count("/") <= 1 and path.endswith(".py")]
        found = [path for path in tops if b"PACKAGE" in files[path] and b"toolhub_sdk" in files[path]]
        found = [path for path in found if "/" not in path or path.endswith("/__init__.py")]
        if len(found) != 1:
            many = f"there are {len(found)}: {', '.join(found)}" if found else "there is none"
            raise StopError(
                f"No toolhub.json names the module with the tools, and of modules with PACKAGE {many}."
            )
        return found[0].removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def describe(self, folder: Path, entry: str) -> dict[str, Any]:
        """The manifest that a module makes, read in a process of its own."""
        words = [sys.executable, "-m", f"{__name__}.describe", str(folder.resolve()), entry, self.name]
        environment = {**os.environ, "PYTHONPATH": str(SDK), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(
                words, env=environment, capture_output=True, timeout=DESCRIBE_S, check=False, cwd=folder
            )
        except subprocess.TimeoutExpired:
            raise StopError(f"{entry} took more than {DESCRIBE_S:.0f} s to import.") from None
        if done.returncode != 0:
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            message = f"{entry} cannot be read: {' '.join(last)}"
            if "ModuleNotFoundError" in message:
                message += ". Install what the package requires: pip install -r requirements.txt"
            raise StopError(message)
        made: dict[str, Any] = json.loads(done.stdout)
        return made


RUNTIME = Python()
