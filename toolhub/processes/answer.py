"""The hub's first answer, waited for by a process of its own: one that forks others has no threads."""

import http.client
import os
import signal
import time

from toolhub.processes.fork import descriptors_close, die_with, forked

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104
LOOK_S = 0.05


class Answer:
    """Whether the hub at `host`:`port` has answered /readyz with 200."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = EVERYWHERE.get(host, host), port
        self._pid: int | None = None
        self._came: bool | None = None

    def await_once(self) -> None:
        """Begins to wait, if it has not: SIGCHLD tells that there is something to see."""
        if self._pid is None:
            above = os.getpid()
            self._pid = forked("answer", lambda: self._wait(above))

    def has_come(self) -> bool:
        """Looks whether it has."""
        if self._came is None and self._pid is not None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                self._came = status == 0
        return bool(self._came)

    def give_up(self) -> None:
        """Waits no longer."""
        if self._pid is not None and self._came is None:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            self._came = False

    def _wait(self, above: int) -> int:
        die_with(above)
        descriptors_close()
        while not self._answers():
            time.sleep(LOOK_S)
        return 0

    def _answers(self) -> bool:
        """Asks once; no proxy is used."""
        connection = http.client.HTTPConnection(self._host, self._port, timeout=5)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()
