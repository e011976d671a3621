"""Receives callbacks: which messages came about each run."""

import contextlib
import json
import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Callbacks:
    """By run the messages that came: their ids and the status that each gave."""

    url: str
    messages: dict[str, set[tuple[str, str]]] = field(default_factory=lambda: defaultdict(set))
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, message: str, body: bytes) -> None:
        """Note a message."""
        metadata = json.loads(body)["metadata"]
        with self.lock:
            self.messages[metadata["run_id"]].add((message, metadata["status"]))


@contextlib.contextmanager
def receiving() -> Iterator[Callbacks]:
    """A receiver on a separate port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            found.take(self.headers["webhook-id"], body)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found = Callbacks(f"http://127.0.0.1:{server.server_address[1]}/")
    thread = threading.Thread(target=server.serve_forever, name="callbacks", daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
