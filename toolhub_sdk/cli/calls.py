"""Calls a tool of a package on this machine, without a sandbox, as a hub would call it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolhub_sdk.package import CONTRACT
from toolhub_sdk.runtimes.local import Answer, LocalCall
from toolhub_sdk.runtimes.registry import runtime_of

TIMEOUT_MS = 30_000


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
    bounds = definition.get("_meta", {}).get(CONTRACT, {}).get("resourceBounds", {})
    limit = seconds or (bounds.get("timeoutMs") or TIMEOUT_MS) / 1000
    runtime = manifest["runtime"]
    return runtime_of(runtime["type"]).call(LocalCall(folder, runtime, definition, arguments, limit, seed))


def tool_load(folder: Path, manifest: Mapping[str, Any], definition: Mapping[str, Any]) -> str | None:
    """Why what a tool's contract names is not in the package, or None; nothing is called."""
    runtime = manifest["runtime"]
    call = LocalCall(folder, runtime, definition, None, TIMEOUT_MS / 1000)
    return runtime_of(runtime["type"]).call(call).error
