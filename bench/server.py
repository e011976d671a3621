"""Processes that are measured: started with a clean environment, waited for, ended for certain."""

import contextlib
import http.client
import os
import re
import resource
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.load import BenchError

ROOT = Path(__file__).resolve().parent.parent
STOP_S = 20.0
_PLACE = re.compile(r"(?:/[\w.+-]+)+/")


def clean_environment(data: Path, **settings: str) -> dict[str, str]:
    """This environment without the settings of the person's own hub, with a data folder of its own."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("TOOLHUB_", "DJANGO_", "PROMETHEUS_"))
    }
    return {**kept, "TOOLHUB_DATA": str(data), "TOOLHUB_LOG_LEVEL": "WARNING", **settings}


def files_allow() -> None:
    """As many open files (connections) as this account may have, here and in what is started from here."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True)
class Server:
    """A running server: its port, its process, and the seconds from its start to its first /readyz 200."""

    port: int
    process: subprocess.Popen[bytes]
    ready_s: float


@contextlib.contextmanager
def serving(
    command: list[str],
    port: int,
    environment: Mapping[str, str],
    log: Path,
    *,
    ready: str = "/readyz",
    folder: Path = ROOT,
    patience_s: float = 90.0,
) -> Iterator[Server]:
    """Starts the command in a folder and waits until `ready` answers 200; ends it afterwards.

    Raises BenchError with the end of its output, places of this machine left out, when it does not.
    """
    with log.open("wb") as output:
        begun = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        with ended(process):
            _await_ready(process, port, ready, patience_s, log)
            yield Server(port, process, time.perf_counter() - begun)


def _await_ready(
    process: subprocess.Popen[bytes], port: int, path: str, patience_s: float, log: Path
) -> None:
    ends = time.monotonic() + patience_s
    pause = threading.Event()
    while not is_ready(port, path):
        if process.poll() is not None or time.monotonic() > ends:
            raise BenchError(f"The server does not get ready. Its last words:\n{last_words(log)}")
        pause.wait(0.02)


def is_ready(port: int, path: str = "/readyz") -> bool:
    """Whether a path answers 200."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


@contextlib.contextmanager
def ended(process: subprocess.Popen[Any], *, patience_s: float = STOP_S) -> Iterator[None]:
    """Ends the process and its group afterwards: politely, then without.

    A process that reads from here gets `patience_s` to end by itself, once there is nothing more to read.
    """
    try:
        yield
    finally:
        if process.stdin:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(patience_s)
        _end(process)


def _end(process: subprocess.Popen[Any]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def last_words(log: Path, lines: int = 12) -> str:
    """The end of a log without the places of this machine."""
    tail = log.read_text(errors="replace").strip().splitlines()[-lines:]
    return "\n".join(f"  {_PLACE.sub('', line)}" for line in tail) or "  (none)"
