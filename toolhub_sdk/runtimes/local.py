"""A call of a tool on its author's machine, without a sandbox, as a hub would make it."""

import json
import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolhub_sdk.defaults import defaults_filled
from toolhub_sdk.package import CONTRACT
from toolhub_sdk.repeatable import repeatable_variables
from toolhub_sdk.strict_json import StrictJSONError, loads

# The folder that holds the package toolhub_sdk.
SDK = Path(__file__).parents[2]
_PASSED = ("PATH", "HOME", "LANG")


@dataclass(frozen=True)
class Answer:
    """What a call came to: `data`, or in `error` a sentence that says why there is none."""

    data: Any = None
    error: str | None = None


@dataclass(frozen=True)
class LocalCall:
    """One call of a tool of the package in `folder`. It ends with all its processes after `seconds`.

    With `arguments` None the tool is only looked for. `seed` is that of the hash order, for tools that
    repeat themselves.
    """

    folder: Path
    runtime: Mapping[str, Any]
    definition: Mapping[str, Any]
    arguments: Mapping[str, Any] | None
    seconds: float
    seed: int = 0

    @property
    def contract(self) -> Mapping[str, Any]:
        """The tool's contract; empty without one."""
        found: Mapping[str, Any] = self.definition.get("_meta", {}).get(CONTRACT, {})
        return found

    def filled(self) -> dict[str, Any]:
        """The arguments with the schema's defaults for those left out."""
        made: dict[str, Any] = defaults_filled(self.definition.get("inputSchema"), self.arguments or {})
        return made

    def run(self, words: list[str], request: Any) -> subprocess.CompletedProcess[bytes] | str:
        """Runs a program in the folder with a JSON value as its input.

        Returns the ended process, or a sentence where it did not get that far.
        """
        environment = {
            **{name: os.environ[name] for name in _PASSED if name in os.environ},
            "PYTHONDONTWRITEBYTECODE": "1",
            **repeatable_variables(self.contract.get("determinism", "non_deterministic"), self.seed),
            **self.contract.get("environment", {}),
        }
        try:
            process = subprocess.Popen(
                words,
                cwd=self.folder,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            return f"{words[0]} cannot be started: {error.strerror}."
        try:
            out, err = process.communicate(json.dumps(request).encode(), timeout=self.seconds)
        except subprocess.TimeoutExpired:
            return f"TIMEOUT: it took more than {self.seconds:g} s."
        finally:
            _end(process)
        return subprocess.CompletedProcess(words, process.returncode, out, err)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends what is left of the process and its children."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


def json_of(text: bytes) -> Any:
    """The JSON value of an output, or `...` where it is none."""
    try:
        return loads(text)
    except StrictJSONError:
        return ...


def last_line(text: bytes) -> str:
    """The last line of what a program printed, at most 500 characters."""
    return " ".join(text.decode(errors="replace").strip().splitlines()[-1:])[:500]
