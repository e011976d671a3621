"""`python -m bench.crowd PORT TOKEN RUN COUNT`: so many clients that ask to wait for a run that does not end.

Each asks again when Retry-After says. Prints `ready`, and how many were told so, once nobody
has been for the first time for three seconds.
"""

import heapq
import re
import selectors
import socket
import sys
import time
from typing import cast

from bench.load import BenchError
from bench.server import files_allow

SETTLE_S = 3.0
_RETRY = re.compile(rb"\r\nretry-after: (\d+)\r\n", re.IGNORECASE)


class Crowd:
    """Clients that ask by new connections, and come again when Retry-After says."""

    def __init__(self, port: int, request: bytes, count: int) -> None:
        self._port, self._request = port, request
        self._selector = selectors.DefaultSelector()
        now = time.monotonic()
        self._due = [(now, number) for number in range(count)]
        self.heard: set[int] = set()
        self.changed = now

    def turn(self) -> None:
        """Asks for whom it is time, and reads what has come."""
        while self._due and self._due[0][0] <= time.monotonic():
            _, number = heapq.heappop(self._due)
            client = socket.create_connection(("127.0.0.1", self._port), timeout=60)
            client.sendall(self._request)
            self._selector.register(client, selectors.EVENT_READ, (number, bytearray()))
        for key, _ in self._selector.select(0.02):
            number, received = key.data
            client = cast("socket.socket", key.fileobj)
            if block := client.recv(65536):
                received += block
                continue
            self._selector.unregister(client)
            client.close()
            self._answered(number, bytes(received))

    def _answered(self, number: int, answer: bytes) -> None:
        if not answer.startswith(b"HTTP/1.1 200"):
            raise BenchError(f"A client of the crowd was answered {answer[:60]!r}.")
        if number not in self.heard:
            self.heard.add(number)
            self.changed = time.monotonic()
        retry = _RETRY.search(answer)
        heapq.heappush(self._due, (time.monotonic() + (int(retry[1]) if retry else 1), number))


def main(port: int, token: str, run: str, count: int) -> None:
    """Asks until it is ended from outside."""
    files_allow()
    lines = [f"GET /api/v1/runs/{run}?wait=60 HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {token}"]
    crowd = Crowd(port, "\r\n".join([*lines, "Connection: close", "", ""]).encode(), count)
    while time.monotonic() - crowd.changed < SETTLE_S or not crowd.heard:
        crowd.turn()
    print("ready", len(crowd.heard), flush=True)
    while True:
        crowd.turn()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
