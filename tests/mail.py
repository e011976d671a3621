"""A real mail server on this machine, and the sending of what is owed."""

import email
import socketserver
import threading
from collections.abc import Iterator
from email.message import Message
from typing import Any

import pytest

from core.outbox.send import delivery_try
from core.outbox.services import delivery_claim


class Post(socketserver.ThreadingTCPServer):
    """A mail server that takes everything."""

    allow_reuse_address = daemon_threads = True

    def __init__(self) -> None:
        self.got: list[tuple[list[str], Message]] = []
        super().__init__(("127.0.0.1", 0), _Session)


class _Session(socketserver.StreamRequestHandler):
    server: Post

    def handle(self) -> None:
        def say(line: str) -> None:
            self.wfile.write(line.encode() + b"\r\n")

        to: list[str] = []
        say("220 here")
        while line := self.rfile.readline().decode().strip():
            word = line.upper()
            if word.startswith("RCPT"):
                to.append(line.partition("<")[2].partition(">")[0])
            if word == "DATA":
                say("354 go on")
                lines = iter(self.rfile.readline, b".\r\n")
                self.server.got.append((to, email.message_from_bytes(b"".join(lines))))
            say("221 bye" if word == "QUIT" else "250 ok")
            if word == "QUIT":
                return


@pytest.fixture
def post(settings: Any) -> Iterator[Post]:
    with Post() as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.server_address[1]
        settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = ""
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        settings.MAIL_FROM = "ToolHub <hub@example.org>"
        yield server
        server.shutdown()


def deliver() -> int:
    """Sends what is due; how many tries that were."""
    tries = 0
    while delivery := delivery_claim():
        delivery_try(delivery)
        tries += 1
    return tries
