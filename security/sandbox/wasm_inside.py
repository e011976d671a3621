"""Compiles and carries out WebAssembly modules, inside a sandbox. Loaded from its file; knows wasmtime alone.

A module is a command of WASI preview 1: it reads a request on standard input and writes a result on standard
output. It gets no folder, no variable and no socket. How it ended is told by the exit code of the process.
"""

import json
import os
import sys
import threading

import wasmtime

FUEL, MEMORY, TIME, FAULT = 97, 98, 99, 100
# Exit codes of a module's own stay below these.
_OWN_MOST = 90
_ENDLESS = 1 << 62
# Each of them takes eight bytes.
TABLE_MOST = 1_000_000


def engine() -> wasmtime.Engine:
    """Both sides have to be told the same: a compiled module fits only such an engine."""
    config = wasmtime.Config()
    config.consume_fuel = True
    config.epoch_interruption = True
    # That would take a memory file, which the sandbox does not give.
    config.memory_init_cow = False
    return wasmtime.Engine(config)


def build(source: str) -> None:
    """Compiles the file `source` into the folder that is collected; a module that is none ends with FAULT."""
    with open(source, "rb") as file:
        content = file.read()
    try:
        made = engine()
        module = wasmtime.Module(made, content)
        unfit = _unfit(made, module)
        compiled = module.serialize()
    except wasmtime.WasmtimeError as error:
        unfit = str(error)
    if unfit:
        print(unfit[:2000], file=sys.stderr)
        sys.exit(FAULT)
    os.mkdir("artefacts")
    with open("artefacts/module", "wb") as file:
        file.write(compiled)


def _unfit(made: wasmtime.Engine, module: wasmtime.Module) -> str:
    """Why no call of the module could begin; empty where it is a command of WASI preview 1."""
    starts = [each for each in module.exports if each.name == "_start"]
    kind = starts[0].type if starts else None
    if not isinstance(kind, wasmtime.FuncType) or list(kind.params) or list(kind.results):
        return "it exports no function _start without parameters and results."
    store, linker = wasmtime.Store(made), wasmtime.Linker(made)
    linker.define_wasi()
    for each in module.imports:
        try:
            linker.get(store, each.module, each.name or "")
        except (wasmtime.WasmtimeError, KeyError):
            return f"it imports {each.module} {each.name}, which WASI preview 1 does not have."
    return ""


def serve(compiled: str) -> None:
    """Carries out one request: a first line with `{fuel, memory, seconds}`, then the module's input."""
    made = engine()
    module = wasmtime.Module.deserialize_file(made, compiled)
    head, _, given = sys.stdin.buffer.read().partition(b"\n")
    bounds = json.loads(head)
    store = wasmtime.Store(made)
    store.set_limits(memory_size=bounds["memory"], table_elements=TABLE_MOST)
    store.set_fuel(bounds["fuel"] or _ENDLESS)
    store.set_epoch_deadline(1)
    wasi = wasmtime.WasiConfig()
    wasi.argv = ["tool"]
    wasi.inherit_stdin()
    wasi.inherit_stdout()
    wasi.inherit_stderr()
    store.set_wasi(wasi)
    _feed(given)
    # The mark: the module begins.
    os.write(1, b"\n")
    clock = threading.Timer(bounds["seconds"], made.increment_epoch)
    clock.daemon = True
    clock.start()
    code = _run(made, store, module)
    sys.stdout.flush()
    os._exit(code)


def _run(made: wasmtime.Engine, store: wasmtime.Store, module: wasmtime.Module) -> int:
    linker = wasmtime.Linker(made)
    linker.define_wasi()
    try:
        start = linker.instantiate(store, module).exports(store)["_start"]
        start(store)  # type: ignore[operator]
    except wasmtime.ExitTrap as ended:
        return min(ended.code, _OWN_MOST)
    except wasmtime.Trap as trap:
        print(str(trap)[:2000], file=sys.stderr)
        ended_by: dict[object, int] = {
            wasmtime.TrapCode.OUT_OF_FUEL: FUEL,
            wasmtime.TrapCode.INTERRUPT: TIME,
        }
        return ended_by.get(trap.trap_code, FAULT)
    except (wasmtime.WasmtimeError, KeyError) as error:
        print(str(error)[:2000], file=sys.stderr)
        return MEMORY if "memory" in str(error) and "limit" in str(error) else FAULT
    return 0


def _feed(given: bytes) -> None:
    """Makes these bytes the standard input that the module inherits."""
    out, into = os.pipe()
    os.dup2(out, 0)
    os.close(out)

    def write() -> None:
        with open(into, "wb") as file:
            file.write(given)

    threading.Thread(target=write, daemon=True).start()
