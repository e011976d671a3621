"""A small application behind a real entrance with short bounds: `python -m tests.web.entrance_app PORT`."""

import hashlib
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import django

from toolhub.entrance import __main__ as entrance
from toolhub.entrance import limits, spool

THREADS = 2
SHARE = 8
# A pipe with a name: who opens it waits until the test does.
HELD = "held"
seen = {"requests": 0, "closed": 0}


class _Parts:
    """An answer without end; it counts when it is closed."""

    streaming = True

    def __iter__(self) -> Iterator[bytes]:
        pause = threading.Event()
        while not pause.wait(0.02):
            yield b"part\n"

    def close(self) -> None:
        seen["closed"] += 1


def application(environ: dict[str, Any], start: Callable[..., Any]) -> Any:
    """`/hold` keeps its thread until the test opens the pipe; other addresses answer what came in."""
    path = environ["PATH_INFO"]
    start("200 OK", [("Content-Type", "application/json")])
    if path == "/hold":
        (Path(os.environ["TOOLHUB_DATA"]) / HELD).read_bytes()
    if path == "/stream":
        return _Parts()
    if path == "/large":
        return [b"a" * 33_554_432]
    body = environ["wsgi.input"].read()
    texts = {name: value for name, value in environ.items() if isinstance(value, str)}
    answer = {
        **seen,
        "sha256": hashlib.sha256(body).hexdigest(),
        "bytes": len(body),
        "on_disk": spool._on_disk,
        "environ": texts,
    }
    if path == "/called":
        seen["requests"] += 1
    return [json.dumps(answer).encode()]


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.hub_settings"
    django.setup()
    limits.HEADERS_S, limits.GRACE_S, limits.RATE = 1, 1.0, 50
    limits.BODIES, limits.SHARE, limits.FEW = 2 * SHARE, SHARE, 0
    port = sys.argv[1]
    name = "tests.web.entrance_app:application"
    sys.argv = ["entrance", name, "--host", "127.0.0.1", "--port", port, "--workers", "1"]
    sys.argv += ["--threads", str(THREADS)]
    entrance.main()
