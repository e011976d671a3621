"""A local stand-in for a container engine: it checks what it is asked and carries nothing out in a container.

It answers the part of the API that ToolHub uses, on a Unix socket, and plays the program's part itself.
"""

import json
import os
import socketserver
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Program = Callable[[bytes], tuple[bytes, bytes, int]]


class FakeEngine:
    """What was asked, in order, and how it answers."""

    def __init__(self, place: Path) -> None:
        self.place = str(place)
        self.asked: list[tuple[str, str, Any]] = []
        self.containers: dict[str, dict[str, Any]] = {}
        self.images: set[str] = set()
        self.runtimes: dict[str, Any] = {"runc": {}}
        self.program: Program = lambda given: (given, b"", 0)
        self.codes: dict[str, int] = {}
        self.started = threading.Event()
        self.oom = False
        self.hangs = False
        # Answers in place of its own, by the end of the path; an empty text hangs up.
        self.says: dict[str, bytes] = {}
        # Seconds between the bytes of such an answer.
        self.slowness = 0.0

    def paths(self) -> list[str]:
        """Method and path of every request, without the version."""
        return [f"{method} {path.removeprefix('/v1.41').partition('?')[0]}" for method, path, _ in self.asked]


class _Handler(socketserver.StreamRequestHandler):
    server: Any

    def handle(self) -> None:
        engine: FakeEngine = self.server.engine
        line = self.rfile.readline().decode().split()
        if not line:
            return
        method, path = line[:2]
        length = 0
        while (header := self.rfile.readline().strip()) != b"":
            name, _, value = header.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        body = json.loads(self.rfile.read(length)) if length else None
        engine.asked.append((method, path, body))
        short = path.removeprefix("/v1.41").partition("?")[0]
        said_so = next((said for end, said in engine.says.items() if short.endswith(end)), None)
        if said_so is not None:
            for at in range(len(said_so)):
                self.wfile.write(said_so[at : at + 1])
                time.sleep(engine.slowness)
            return
        if short.endswith("/attach"):
            self._attach(engine, short.split("/")[2])
            return
        status, said = self._answer(engine, method, short, body)
        content = b"OK" if short == "/_ping" else json.dumps(said).encode() if said is not None else b""
        self.wfile.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content)

    def _answer(self, engine: FakeEngine, method: str, path: str, body: Any) -> tuple[int, Any]:
        parts = path.strip("/").split("/")
        if path == "/_ping":
            return 200, None
        if path == "/info":
            return 200, {"Runtimes": engine.runtimes}
        if path == "/containers/create":
            if body["Image"] not in engine.images:
                return 404, {"message": "No such image"}
            made = f"c{len(engine.containers)}"
            engine.containers[made] = body
            return 201, {"Id": made, "Warnings": []}
        if method == "DELETE":
            engine.containers.pop(parts[1], None)
            return 204, None
        if parts[2] == "start":
            engine.started.set()
            return 204, None
        if parts[2] == "wait":
            return 200, {"StatusCode": engine.codes.get(parts[1], 0)}
        return 200, {"State": {"OOMKilled": engine.oom}}

    def _attach(self, engine: FakeEngine, container: str) -> None:
        self.wfile.write(b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
        self.wfile.flush()
        given = self.rfile.read()
        engine.started.wait(10)
        while engine.hangs and container in engine.containers:
            time.sleep(0.01)
        out, log, code = engine.program(given)
        engine.codes[container] = code
        for stream, content in ((1, out), (2, log)):
            for at in range(0, len(content), 50_000):
                part = content[at : at + 50_000]
                self.wfile.write(struct.pack(">BxxxI", stream, len(part)) + part)


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    engine: FakeEngine

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who hung up is the hub, when a run is over."""


@contextmanager
def engine_running(place: Path) -> Iterator[FakeEngine]:
    """The engine, answering at a socket."""
    with _Server(str(place), _Handler) as server:
        server.engine = FakeEngine(place)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.engine
        finally:
            server.shutdown()
            os.unlink(place)
