"""A private PostgreSQL server in a temporary folder, which may be stopped and started at will."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg

from bench.server import free_port

USER, DATABASE = "toolhub", "toolhub"
PATIENCE_S = 60.0


class PostgresMissing(Exception):
    """The message says why there is no private server."""


def _programs() -> Path:
    """Where initdb and postgres of the newest installed version are."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda file: int(file.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    if on_path is None:
        raise PostgresMissing("initdb is not installed (Debian: apt install postgresql)")
    return Path(on_path).resolve().parent


def _account() -> dict[str, Any]:
    """PostgreSQL refuses to run as root: then it runs as postgres."""
    if os.getuid():
        return {}
    try:
        entry = pwd.getpwnam("postgres")
    except KeyError as error:
        raise PostgresMissing("there is no account postgres to run it as") from error
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


class Postgres:
    """The server; `port` is its own, and its log lies in `log`."""

    def __init__(self, log: Path, *, fsync: bool = True) -> None:
        self.port, self.log, self._fsync = free_port(), log, fsync
        self._bin, self._as = _programs(), _account()
        # Not below the caller's folder, into which the other account may not look.
        self.folder = Path(tempfile.mkdtemp(prefix="toolhub-postgres-"))
        if self._as:
            os.chown(self.folder, self._as["user"], self._as["group"])
        command = [str(self._bin / "initdb"), "-D", str(self.folder / "data"), "-U", USER, "-A", "trust"]
        command += ["--no-sync", "-E", "UTF8", "--locale", "C.UTF-8"]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder, **self._as)
        self._process: subprocess.Popen[bytes] | None = None
        self.start()
        self.execute(f"CREATE DATABASE {DATABASE}", database="postgres")

    def url(self, port: int | None = None) -> str:
        """The hub's address of its database, perhaps through another port."""
        return f"postgres://{USER}@127.0.0.1:{port or self.port}/{DATABASE}"

    def start(self) -> None:
        """Starts, and waits until it answers."""
        options = [
            "-c",
            f"fsync={'on' if self._fsync else 'off'}",
            "-c",
            "listen_addresses=127.0.0.1",
            "-c",
            "unix_socket_directories=",
        ]
        options += ["-c", "max_connections=200", "-c", "shared_buffers=32MB"]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [
                    str(self._bin / "postgres"),
                    "-D",
                    str(self.folder / "data"),
                    "-p",
                    str(self.port),
                    *options,
                ],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **self._as,
            )
        ends = time.monotonic() + PATIENCE_S
        while True:
            try:
                self.execute("SELECT 1", database="postgres")
                return
            except psycopg.OperationalError:
                if time.monotonic() > ends or self._process.poll() is not None:
                    raise
                time.sleep(0.05)

    def stop(self, *, crash: bool = False) -> None:
        """Ends every session and the server; `crash` as after a power cut, so that it has to recover."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT if crash else signal.SIGINT)
            self._process.wait(PATIENCE_S)

    def execute(self, statement: str, *, database: str = DATABASE) -> list[tuple[Any, ...]]:
        """Executes a statement by itself; gives its rows."""
        url = f"postgresql://{USER}@127.0.0.1:{self.port}/{database}"
        with psycopg.connect(url, autocommit=True, connect_timeout=5) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def remove(self) -> None:
        """Ends the server and removes all that it had."""
        self.stop(crash=True)
        shutil.rmtree(self.folder, ignore_errors=True)
