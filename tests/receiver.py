"""A real receiver of requests on this machine, which answers as a test wants."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass
class Got:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Answer = Callable[[BaseHTTPRequestHandler], None]


def status(code: int, **headers: str) -> Answer:
    """Answers with a status and nothing else."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def says(body: bytes, media: str = "application/json", code: int = 200, **headers: str) -> Answer:
    """Answers with a body of a media type."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in {"Content-Type": media, **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


@dataclass
class Receiver:
    """Keeps what it got; gives `answers` in order, the last of them for ever."""

    port: int
    answers: list[Answer] = field(default_factory=lambda: [status(204)])
    got: list[Got] = field(default_factory=list)
    # Set at the end of the test: whoever is silent on purpose stops waiting.
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def take(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length") or 0)
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.got.append(Got(handler.command, handler.path, headers, handler.rfile.read(length)))
        answer = self.answers[0] if len(self.answers) == 1 else self.answers.pop(0)
        answer(handler)


def receiving(port: int = 0, tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """A receiver at a port of its own, or a given one, until the generator is closed."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.take(self)

        do_GET = do_PUT = do_PATCH = do_DELETE = do_POST  # noqa: N815 - http.server's own naming

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    receiver = Receiver(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.over.set()
        server.shutdown()
        server.server_close()
        thread.join(10)


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    """A receiver to which the hub may send."""
    settings.HTTP_ALLOW = ["127.0.0.1"]
    yield from receiving()


@pytest.fixture
def closed_port() -> int:
    """A port at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
