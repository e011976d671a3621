"""A private Redis server without persistence: killed, it has forgotten everything."""

import socket
import subprocess
import time
from pathlib import Path

from bench.server import free_port

PATIENCE_S = 20.0


class Redis:
    """The server on a `port` of its own; its log lies in `log`."""

    def __init__(self, log: Path) -> None:
        self.port, self._log = free_port(), log
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Starts, and waits until it listens."""
        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "--appendonly", "no"],
                cwd=self._log.parent,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        ends = time.monotonic() + PATIENCE_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                if time.monotonic() > ends:
                    raise
                time.sleep(0.02)

    def kill(self) -> None:
        """Ends it at once; all messages are lost."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
