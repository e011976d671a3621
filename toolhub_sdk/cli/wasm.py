"""Whether a package's WebAssembly module can be compiled, where wasmtime is installed to say so."""

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

from toolhub_sdk.checks.problem import Problem


def module_problems(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> Iterator[Problem]:
    """What is wrong with the module of a package without other problems."""
    runtime = manifest["runtime"]
    if runtime["type"] != "wasm":
        return
    wasmtime: Any = importlib.import_module("wasmtime")
    try:
        wasmtime.Module.validate(wasmtime.Engine(), files[runtime["entry"]])
    except wasmtime.WasmtimeError as error:
        message = f"{runtime['entry']} cannot be compiled: {str(error).splitlines()[0][:200]}"
        yield Problem("/runtime/entry", message, "Compile it to a module of WASI preview 1.")
