"""WebAssembly modules made ready: compiled once, in a sandbox, and kept by their hash."""

import dataclasses
import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import tempfile
import threading
from pathlib import Path

from django.conf import settings

from core.errors import ToolHubError
from security.sandbox.interpreter import interpreter, interpreter_mounts
from security.sandbox.launch import MIB, Launch, Limits, Mount
from security.sandbox.levels import Level
from security.sandbox.probes import level_choose, probe
from security.sandbox.run import sandbox_run

# Their folder on this machine.
MODULES = "modules"
# How a module's process ended, as wasm_inside has it; that is not loaded here, as it loads the whole engine.
FUEL, MEMORY, TIME, FAULT = 97, 98, 99, 100
ENGINE, INSIDE, MODULE, SOURCE = (
    "/toolhub/wasmtime",
    "/toolhub/wasm.py",
    "/toolhub/module",
    "/toolhub/source.wasm",
)
# Both are loaded from their places alone: what stands beside them is not to be seen.
LOAD = """
import sys
if "wasm_inside" not in sys.modules:
    import importlib.util
    for name, file, folders in (
        ("wasmtime", sys.argv[1] + "/__init__.py", [sys.argv[1]]), ("wasm_inside", sys.argv[2], None)
    ):
        spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=folders)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
import wasm_inside
"""
BUILD_S = 120.0
_LIMITS = Limits(memory_bytes=1024 * MIB, disk_bytes=128 * MIB, artefact_bytes=120 * MIB, artefacts=1)


def wasm_argv(act: str, file: str) -> list[str]:
    """The command that does an act of wasm_inside with a file."""
    flags = ["-I", "-S", "-B"]
    return [interpreter(), *flags, "-c", f"{LOAD}wasm_inside.{act}(sys.argv[3])\n", ENGINE, INSIDE, file]


def wasm_mounts() -> list[Mount]:
    """What that command needs beside the file. Raises ToolHubError DEPENDENCY_MISSING without wasmtime."""
    found = importlib.util.find_spec("wasmtime")
    if found is None or not found.submodule_search_locations:
        raise ToolHubError(
            "This machine has no wasmtime.",
            code="DEPENDENCY_MISSING",
            suggestions=["Install the hub's requirements on the workers' machines."],
        )
    inside = Path(__file__).parent / "wasm_inside.py"
    return [
        *interpreter_mounts(),
        Mount(found.submodule_search_locations[0], ENGINE),
        Mount(str(inside), INSIDE),
    ]


def module_build(content: bytes, cancelled: threading.Event, seconds: float = BUILD_S) -> Path:
    """The compiled form of a module, made when it is not there yet, in so many seconds at most.

    Raises ToolHubError PACKAGE_REFUSED for what is no module, SANDBOX_UNAVAILABLE, CANCELLED.
    """
    file: Path = settings.DATA / MODULES / module_name(hashlib.sha256(content).hexdigest())
    if not file.is_file():
        file.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        _put(file, _compiled(content, cancelled, min(seconds, BUILD_S)))
    return file


def module_name(digest: str) -> str:
    """How the compiled form of a module is called on this machine, by the SHA-256 (hex) of the module."""
    return hashlib.sha256(_kind() + b"\n" + bytes.fromhex(digest)).hexdigest()


def _compiled(content: bytes, cancelled: threading.Event, seconds: float) -> bytes:
    level = level_choose(Level.CONFINED)
    with tempfile.TemporaryDirectory(dir=settings.DATA / MODULES) as folder:
        os.chmod(folder, 0o755)  # noqa: S103 - the sandbox's user has to reach it
        source = Path(folder) / "source.wasm"
        source.write_bytes(content)
        source.chmod(0o444)
        launch = Launch(
            argv=wasm_argv("build", SOURCE),
            level=level,
            mounts=(*wasm_mounts(), Mount(str(source), SOURCE)),
            environment={"LANG": "C.UTF-8"},
            limits=dataclasses.replace(_LIMITS, wall_s=max(0.001, seconds)),
        )
        done = sandbox_run(launch, cancelled, proc=probe(level).proc)
    if done.how == "cancelled":
        raise ToolHubError("It was cancelled.", code="CANCELLED")
    if done.how == "exited" and done.exit_code == 0 and done.files:
        return done.files[0][1]
    said = done.log.decode(errors="replace").strip()[:500]
    if done.how == "exited" and done.exit_code == FAULT:
        raise ToolHubError(f"The module cannot be compiled: {said}", code="PACKAGE_REFUSED")
    raise ToolHubError(f"The module was not compiled ({done.how}).", code="RESOURCE_EXCEEDED")


def _put(file: Path, content: bytes) -> None:
    """At once, so that nobody reads a half."""
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as new:
        new.write(content)
    os.chmod(new.name, 0o444)
    os.replace(new.name, file)


@functools.cache
def _kind() -> bytes:
    """What is compiled fits one version and one kind of processor."""
    return f"{importlib.metadata.version('wasmtime')} {platform.machine()} {_processor()}".encode()


def _processor() -> str:
    """What this machine's processor can do, as the kernel says it."""
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
        return next((line for line in lines if line.startswith(("flags", "Features"))), "")
