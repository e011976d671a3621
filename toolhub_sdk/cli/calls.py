"""Calls a tool of a package on this machine, without a sandbox, as a hub would call it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from toolhub_sdk.cli.package_folder import SDK
from toolhub_sdk.defaults import defaults_filled
from toolhub_sdk.errors import ToolError
from toolhub_sdk.package import CONTRACT
from toolhub_sdk.repeatable import repeatable_variables
from toolhub_sdk.strict_json import StrictJSONError, loads
from toolhub_sdk.web import web_request, web_result

TIMEOUT_MS = 30_000
_ENTRY = "import sys; sys.path.insert(0, sys.argv[1]); from toolhub_sdk.entry import main; main()"


@dataclass(frozen=True)
class Answer:
    """What a call came to: `data`, or in `error` a sentence that says why there is none."""

    data: Any = None
    error: str | None = None


def tool_call(
    folder: Path,
    manifest: Mapping[str, Any],
    definition: Mapping[str, Any],
    arguments: Mapping[str, Any],
    seconds: float | None = None,
    seed: int = 0,
) -> Answer:
    """Calls one tool in a process of its own, which ends with all its children after `seconds`.

    `seed` is that of the hash order, for tools that repeat themselves.
    """
    contract = definition.get("_meta", {}).get(CONTRACT, {})
    bound = contract.get("resourceBounds", {}).get("timeoutMs") or TIMEOUT_MS
    limit = seconds or bound / 1000
    runtime = manifest["runtime"]
    filled = defaults_filled(definition.get("inputSchema"), arguments)
    if runtime["type"] == "http":
        return _web(runtime["entry"], contract["http"], filled, limit)
    if runtime["type"] == "python":
        return _python(folder, runtime["entry"], definition, contract, arguments, limit, seed)
    if runtime["type"] == "command":
        return _command(folder, runtime["entry"], definition, contract, filled, limit, seed)
    return Answer(
        error=f"tools of the runtime {runtime['type']} are called by a hub alone: install the package."
    )


def tool_load(folder: Path, manifest: Mapping[str, Any], definition: Mapping[str, Any]) -> str | None:
    """Why the functions that a Python tool's contract names are not there, or None; nothing is called."""
    contract = definition.get("_meta", {}).get(CONTRACT, {})
    if manifest["runtime"]["type"] != "python":
        return None
    entry = manifest["runtime"]["entry"]
    return _python(folder, entry, definition, contract, None, TIMEOUT_MS / 1000, 0).error


def _web(entry: str, operation: Mapping[str, Any], arguments: Mapping[str, Any], seconds: float) -> Answer:
    """Sends the request from here; a hub also refuses addresses inside its own network."""
    try:
        request = web_request(entry, operation, arguments)
        with closing(_connection(request.url, seconds)) as connection:
            target = request.url.split("/", 3)[3:]
            connection.request(
                request.method, f"/{''.join(target)}", request.body or None, dict(request.headers)
            )
            answer = connection.getresponse()
            names = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(web_result(answer.status, names, answer.read()))
    except ToolError as error:
        return Answer(error=str(error))
    except (OSError, HTTPException) as error:
        return Answer(error=f"NETWORK: {error}")


def _connection(url: str, seconds: float) -> HTTPConnection:
    parts = urlsplit(url)
    made = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    return made(parts.hostname or "", parts.port, timeout=seconds)


def _python(
    folder: Path,
    module: str,
    definition: Mapping[str, Any],
    contract: Mapping[str, Any],
    arguments: Mapping[str, Any] | None,
    seconds: float,
    seed: int,
) -> Answer:
    request: dict[str, Any] = {
        "function": contract.get("function", definition["name"]),
        "arguments": arguments or {},
        "context": {"tool": definition["name"]},
        "seconds": seconds,
        "look": {
            "hooks": contract.get("hooks", {}),
            "schema": definition["inputSchema"],
            "only": arguments is None,
        },
    }
    if contract.get("determinism") == "bounded":
        request["fixed"] = {"now": "2026-01-01T00:00:00+00:00", "seed": "1"}
    words = [sys.executable, "-c", _ENTRY, str(SDK), module, str(folder.resolve())]
    done = _run(words, folder, request, contract, seconds, seed)
    if isinstance(done, str):
        return Answer(error=done)
    lines = done.stdout.splitlines()
    last = _json(lines[-1]) if lines else None
    if not isinstance(last, dict):
        return Answer(error=f"The tool ended with code {done.returncode}. {_last(done.stderr)}")
    if "result" in last:
        return Answer(last["result"])
    if "error" in last:
        return Answer(error=f"{last['error']['code']}: {last['error']['message']}")
    if "unfit" in last:
        return Answer(error=" ".join(last["unfit"]))
    return Answer(error=f"It ended with {next(iter(last.values()))}. {_last(done.stderr)}")


def _command(
    folder: Path,
    entry: str | Sequence[str],
    definition: Mapping[str, Any],
    contract: Mapping[str, Any],
    arguments: Mapping[str, Any],
    seconds: float,
    seed: int,
) -> Answer:
    words = [entry] if isinstance(entry, str) else list(entry)
    if isinstance(entry, str) or "/" in words[0]:
        words[0] = str((folder / words[0]).resolve())
    request = {"arguments": arguments, "context": {"attempt": 1}, "tool": definition["name"]}
    done = _run(words, folder, request, contract, seconds, seed)
    if isinstance(done, str):
        return Answer(error=done)
    said = _json(done.stdout)
    if done.returncode == 0:
        return Answer(said) if said is not ... else Answer(error="The output is not one JSON value.")
    if isinstance(said, dict) and "code" in said:
        return Answer(error=f"{said['code']}: {said.get('message', '')}")
    return Answer(error=f"The program ended with code {done.returncode}. {_last(done.stderr)}")


def _run(
    words: list[str], folder: Path, request: Any, contract: Mapping[str, Any], seconds: float, seed: int
) -> subprocess.CompletedProcess[bytes] | str:
    """The ended process, or a sentence when it did not come so far."""
    environment = {
        **{name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ},
        "PYTHONDONTWRITEBYTECODE": "1",
        **repeatable_variables(contract.get("determinism", "non_deterministic"), seed),
        **contract.get("environment", {}),
    }
    try:
        process = subprocess.Popen(
            words,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return f"{words[0]} cannot be started: {error.strerror}."
    try:
        out, err = process.communicate(json.dumps(request).encode(), timeout=seconds)
    except subprocess.TimeoutExpired:
        return f"TIMEOUT: it took more than {seconds:g} s."
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


def _json(text: bytes) -> Any:
    """The JSON value of an output, or `...` where it is none."""
    try:
        return loads(text)
    except StrictJSONError:
        return ...


def _last(text: bytes) -> str:
    return " ".join(text.decode(errors="replace").strip().splitlines()[-1:])[:500]
