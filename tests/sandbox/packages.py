"""Two small packages for the tests of the runners: one in Python, one of commands."""

from typing import Any

from core.actors import SYSTEM
from registry.archives.zips import zip_write
from registry.models import Archive, Package, Release
from registry.releases.draft import release_draft
from registry.releases.publish import draft_publish

PYTHON = '''
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Any

from toolhub_sdk import Field, ToolContext, ToolError, tool

Any_ = Annotated[Any, Field(description="Anything.")]

@tool(name="box_echo")
def echo(value: Any_) -> Any:
    """Gives back what it got, and prints."""
    print("printed", flush=True)
    subprocess.run(["echo", "printed by a program"], check=True)
    return value

@tool(name="box_context")
def context(ctx: ToolContext) -> Any:
    """What its context holds."""
    names = ("tool", "version", "session_id", "agent_id", "project", "context_data", "hints", "attempt")
    return {name: getattr(ctx, name) for name in names}

@tool(name="box_parts")
def parts(ctx: ToolContext, count: Any_) -> int:
    """Sends parts."""
    for number in range(count):
        ctx.emit({"part": number})
    return count

@tool(name="box_wait")
def wait(ctx: ToolContext) -> Any:
    """Works until it is told to stop, and says so."""
    ctx.emit("began")
    while not ctx.cancelled.is_set():
        time.sleep(0.01)
    ctx.emit("saw the signal")
    ctx.raise_if_cancelled()

@tool(name="box_tell")
def tell(ctx: ToolContext) -> Any:
    """Prints, works until it is told to stop, and prints again."""
    print("works", flush=True)
    while not ctx.cancelled.is_set():
        time.sleep(0.01)
    print("stops")
    ctx.raise_if_cancelled()

@tool(name="box_leave")
def leave(ctx: ToolContext, mark: Any_) -> Any:
    """Leaves its session with a child, and hears nothing."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)", mark])
        os._exit(0)
    ctx.emit("began")
    time.sleep(60)

@tool(name="box_refuse")
def refuse() -> Any:
    """Fails with a code of its own."""
    raise ToolError("BOX_CLOSED", "The box is closed.", recoverable=False, suggestions=["Open it."], details={"key": 1})

@tool(name="box_fail")
def fail(how: Any_) -> Any:
    """Fails in one way or another."""
    if how == "mistake":
        raise RuntimeError("password=hunter2")
    if how == "exit":
        raise SystemExit(3)
    if how == "die":
        os._exit(4)
    if how == "nan":
        return float("nan")
    if how == "memory":
        return len(bytearray(2 << 30))
    if how == "grow":
        return [bytearray(1 << 20).replace(b"\\0", b"x") for _ in range(2048)] and 1
    if how == "disk":
        return Path("file").write_bytes(b"x" * (65 << 20))
    if how == "large":
        return "x" * 2000
    if how == "print":
        while True:
            print("x" * 100_000)
    time.sleep(60)

@tool(name="box_bounded", determinism="bounded")
def bounded(ctx: ToolContext) -> Any:
    """Time and chance of the run."""
    return [ctx.clock.now(), ctx.random.random()]

@tool(name="box_looks")
def looks() -> Any:
    """What it sees of the world."""
    return {"environment": sorted(os.environ), "files": sorted(os.listdir(".")), "user": os.getuid()}
'''
SHELL = """
read -r request
case $request in
*'"fail":true'*) echo '{"code": "SHELL_NO", "message": "No.", "recoverable": false, "suggestions": ["Ask."]}'; exit 3 ;;
*'"die":true'*) echo 'no JSON'; exit 4 ;;
*'"talk":true'*) echo 'no JSON' ;;
*) echo "{\\"got\\": $request}" ;;
esac
"""
# Sends what it is told to the proxy of its environment, or to an address itself; gives back what came.
NETWORK = '''
import os
import socket
import urllib.error
import urllib.request
from urllib.parse import urlsplit
from typing import Annotated, Any

from toolhub_sdk import Field, tool

Any_ = Annotated[Any, Field(description="Anything.")]

@tool(name="net_get")
def get(urls: Any_) -> Any:
    """Asks for addresses as any program does."""
    found = []
    for url in urls:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                found.append([answer.status, answer.read().decode()])
        except urllib.error.HTTPError as error:
            found.append([error.code, error.read().decode()])
        except OSError as error:
            found.append([0, str(error)])
    return found

@tool(name="net_fail")
def fail(url: Any_) -> Any:
    """Asks for an address, and lets what goes wrong pass."""
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.status

@tool(name="net_raw")
def raw(sends: Any_, to: Any_ = None) -> Any:
    """Sends texts one by one and reads to the end."""
    place = urlsplit(os.environ["HTTPS_PROXY"]) if to is None else None
    try:
        with socket.create_connection((place.hostname, place.port) if place else tuple(to), 10) as sock:
            got = b""
            for each in sends:
                sock.sendall(each.encode("latin-1"))
                got += sock.recv(65536)
            while block := sock.recv(65536):
                got += block
            return got.decode("latin-1")[:3000]
    except OSError as error:
        return f"no: {error.strerror}"
'''
_ANY = {"type": "object"}
_OUTPUT = {"type": "integer"}


def tool_of(name: str, function: str = "", **contract: Any) -> dict[str, Any]:
    """A definition in MCP's shape."""
    meta = {"io.toolhub/contract": {"function": function or name, "category": "custom", **contract}}
    return {"name": name, "description": "A tool.", "inputSchema": _ANY, "_meta": meta}


def python_manifest(version: str = "1.0.0") -> dict[str, Any]:
    """The Python package's manifest."""
    small = {"resourceBounds": {"maxMemoryBytes": 64 << 20, "maxOutputBytes": 1000, "timeoutMs": 4000}}
    pure = {"sideEffects": "pure", "idempotent": True}
    return {
        "name": "box",
        "version": version,
        "runtime": {"type": "python", "entry": "box"},
        "tools": [
            tool_of("box_echo", "echo", **pure, environment={"TZ": "UTC"}),
            tool_of("box_context", "context", **pure),
            {**tool_of("box_parts", "parts", **pure), "outputSchema": _OUTPUT},
            tool_of("box_wait", "wait", **pure),
            tool_of("box_tell", "tell", **pure),
            tool_of("box_leave", "leave", **pure),
            tool_of("box_refuse", "refuse", **pure),
            tool_of("box_fail", "fail", **pure, **small),
            tool_of("box_bounded", "bounded", **pure, determinism="bounded"),
            tool_of("box_looks", "looks", **pure, environment={"TZ": "UTC", "LD_PRELOAD": "/tmp/x.so"}),
            tool_of("box_missing", "no_such_function", **pure),
        ],
    }


def command_manifest(entry: Any, version: str = "1.0.0") -> dict[str, Any]:
    """The manifest of a package with one command."""
    tools = [tool_of("shell_box")]
    return {
        "name": "shell",
        "version": version,
        "runtime": {"type": "command", "entry": entry},
        "tools": tools,
    }


def publish(manifest: dict[str, Any], contents: dict[str, bytes]) -> Release:
    """Publishes a package with its files, as an installation does."""
    draft = release_draft(manifest=manifest, files={})
    packed = zip_write(contents)
    archive = Archive(digest=draft.release.digest, content=packed, size=len(packed), files={})
    return draft_publish(by=SYSTEM, draft=draft, archive=archive)


def box_publish() -> Package:
    """The Python package."""
    return publish(python_manifest(), {"box.py": PYTHON.encode()}).package


def shell_publish(entry: Any = ("sh", "tool.sh"), change: Any = None) -> Package:
    """The package of a command; `change` may do something to its manifest first."""
    manifest = command_manifest(entry)
    if change:
        change(manifest)
    return publish(manifest, {"tool.sh": b"#!/bin/sh\n" + SHELL.encode()}).package


def net_publish(allow: list[str], isolation: str = "strict", *, version: str = "1.0.0") -> Package:
    """A package whose tools reach hosts."""
    contract = {"sideEffects": "impure", "network": {"allow": allow}, "isolation": isolation}
    tools = [tool_of(f"net_{name}", name, **contract) for name in ("get", "fail", "raw")]
    runtime = {"type": "python", "entry": "net"}
    manifest = {"name": "net", "version": version, "runtime": runtime, "tools": tools}
    return publish(manifest, {"net.py": NETWORK.encode()}).package
