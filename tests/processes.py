"""The hub's processes for tests: real web, worker and steward on the test database."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.db import connection

ROOT = Path(__file__).resolve().parent.parent
GRACE_S = 10.0


def database_url() -> str:
    """The address of the database that this test runs on."""
    chosen: dict[str, Any] = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{chosen['NAME']}"
    login = quote(chosen["USER"]) + (f":{quote(chosen['PASSWORD'])}" if chosen["PASSWORD"] else "")
    return f"postgres://{login}@{chosen['HOST']}:{chosen['PORT'] or 5432}/{chosen['NAME']}"


class Processes:
    """Starts the hub's processes, each in a group of its own, and ends all of them."""

    def __init__(self, lease_s: int = 3) -> None:
        self._env = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.hub_settings",
            "PYTHONPATH": str(ROOT),
            "TOOLHUB_DATA": str(settings.DATA),
            "TOOLHUB_DATABASE_URL": database_url(),
            "TOOLHUB_BROKER_URL": settings.BROKER_URL,
            "TOOLHUB_QUEUE_PREFIX": settings.QUEUE_PREFIX,
            "TOOLHUB_LEASE_S": str(lease_s),
            "TOOLHUB_SECRET_KEY": settings.SECRET_KEY,
        }
        self._started: list[subprocess.Popen[bytes]] = []

    def _start(self, arguments: list[str], env: dict[str, str]) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, *arguments], cwd=ROOT, env={**self._env, **env}, start_new_session=True
        )
        self._started.append(process)
        return process

    def worker(self, concurrency: int = 1, **env: str) -> subprocess.Popen[bytes]:
        """A Celery worker as `manage.py up` starts it."""
        arguments = ["-m", "celery", "-A", "toolhub", "worker", "--pool", "prefork"]
        arguments += ["--concurrency", str(concurrency), "--loglevel", "WARNING"]
        arguments += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
        return self._start(arguments, env)

    def steward(self, **env: str) -> subprocess.Popen[bytes]:
        return self._start(["manage.py", "steward"], env)

    def web(self, **env: str) -> tuple[subprocess.Popen[bytes], str]:
        """A web process, and its address once it answers."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        arguments = [
            "-m",
            "granian",
            "toolhub.wsgi:application",
            "--interface",
            "wsgi",
            "--host",
            "127.0.0.1",
        ]
        arguments += ["--port", str(port), "--workers", "1", "--blocking-threads", "4"]
        arguments += ["--respawn-failed-workers", "--no-access-log"]
        process = self._start(arguments, {"TOOLHUB_WEB_PROCESS": "on", **env})
        address = f"http://127.0.0.1:{port}"
        wait_for(lambda: _answers(f"{address}/healthz"), 60)
        return process, address

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Ends a process and its whole group at once."""
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(GRACE_S)

    def end_all(self) -> None:
        """Ends everything that was started."""
        for process in self._started:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        for process in self._started:
            with suppress(subprocess.TimeoutExpired):
                process.wait(1)
            self.kill(process)


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def wait_for(true: Callable[[], Any], seconds: float = 30.0) -> Any:
    """What `true` gives once it is true. Raises AssertionError when that takes too long."""
    ends = time.monotonic() + seconds
    while not (found := true()):
        if time.monotonic() > ends:
            raise AssertionError(f"did not come true within {seconds} s")
        time.sleep(0.05)
    return found


def running() -> Iterator[Processes]:
    """For a fixture: processes that are ended with the test."""
    processes = Processes()
    try:
        yield processes
    finally:
        processes.end_all()
