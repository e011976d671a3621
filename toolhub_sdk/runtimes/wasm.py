"""The runtime wasm: a WebAssembly module of the package."""

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

from toolhub_sdk.problem import Problem
from toolhub_sdk.runtimes.traits import Runtime

_MAGIC = b"\0asm\1\0\0\0"
_REMEDY = "Compile it to a module of WASI preview 1."


class Wasm(Runtime):
    name = "wasm"
    properties = {
        "entry": {
            "$ref": "#/$defs/packagePath",
            "description": "A WebAssembly module of the package, a command of WASI preview 1. It reads one "
            "JSON request on standard input and writes one JSON result on standard output.",
        }
    }
    required = ("entry",)
    extras = {"wasmtime": ("compiles WebAssembly", "wasmtime", "wasm")}

    def files(self, runtime: Mapping[str, Any]) -> Mapping[str, str]:
        return {"/runtime/entry": runtime["entry"]}

    def file_problems(self, runtime: Mapping[str, Any], files: Mapping[str, bytes]) -> Iterator[Problem]:
        if not files.get(runtime["entry"], _MAGIC).startswith(_MAGIC):
            yield Problem("/runtime/entry", f"{runtime['entry']} is no WebAssembly module.", _REMEDY)

    def code_problems(self, runtime: Mapping[str, Any], files: Mapping[str, bytes]) -> Iterator[Problem]:
        wasmtime: Any = importlib.import_module("wasmtime")
        try:
            wasmtime.Module.validate(wasmtime.Engine(), files[runtime["entry"]])
        except wasmtime.WasmtimeError as error:
            message = f"{runtime['entry']} cannot be compiled: {str(error).splitlines()[0][:200]}"
            yield Problem("/runtime/entry", message, _REMEDY)


RUNTIME = Wasm()
