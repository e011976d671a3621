"""The runtime command: any program that reads one JSON value and writes one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolhub_sdk.runtimes.local import Answer, LocalCall, json_of, last_line
from toolhub_sdk.runtimes.traits import Packages, Runtime

WORD: Mapping[str, Any] = {
    "type": "string",
    "description": "A word of the command; no shell reads it.",
    "minLength": 1,
    "maxLength": 200,
    "pattern": "^[^\\u0000]*$",
}


class Command(Runtime):
    name = "command"
    properties = {
        "entry": {
            "type": ["string", "array"],
            "description": "The program and its arguments as a list, or the path of an executable file of "
            "the package. It reads one JSON request on standard input and writes one JSON result on standard "
            "output.",
            "items": WORD,
            "minItems": 1,
            "maxItems": 20,
            "minLength": 1,
            "maxLength": 200,
            "pattern": "^[^\\u0000\\\\]*$",
        },
        "requires": {
            "$ref": "#/$defs/packagePath",
            "description": "A package-lock.json of the package, beside its package.json: Node packages by "
            "version, each with its hash.",
        },
    }
    required = ("entry",)
    packages = Packages.NODE
    template = Path(__file__).parent / "template"

    def files(self, runtime: Mapping[str, Any]) -> Mapping[str, str]:
        """The program, where the entry is a path and no name of an interpreter."""
        entry = runtime["entry"]
        first = entry if isinstance(entry, str) else entry[0]
        is_file = isinstance(entry, str) or "/" in first
        return {"/runtime/entry": first.removeprefix("./")} if is_file else {}

    def missing_remedy(self, path: str) -> str:
        if " " in path:
            words = ", ".join(f'"{word}"' for word in path.split())
            return f"A command with arguments is a list: [{words}]."
        return super().missing_remedy(path)

    def call(self, call: LocalCall) -> Answer:
        """Runs the program with the request on its standard input."""
        if call.arguments is None:
            return Answer()
        entry = call.runtime["entry"]
        words = [entry] if isinstance(entry, str) else list(entry)
        if isinstance(entry, str) or "/" in words[0]:
            words[0] = str((call.folder / words[0]).resolve())
        tool = call.definition["name"]
        done = call.run(words, {"arguments": call.filled(), "context": {"attempt": 1}, "tool": tool})
        if isinstance(done, str):
            return Answer(error=done)
        said = json_of(done.stdout)
        if done.returncode == 0:
            return Answer(said) if said is not ... else Answer(error="The output is not one JSON value.")
        if isinstance(said, dict) and "code" in said:
            return Answer(error=f"{said['code']}: {said.get('message', '')}")
        return Answer(error=f"The program ended with code {done.returncode}. {last_line(done.stderr)}")


RUNTIME = Command()
