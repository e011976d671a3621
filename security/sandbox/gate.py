"""The way out of a sandbox without network: an HTTP proxy that this process answers, for named hosts only.

The tool's network is empty but for one listening socket, which the supervisor made there and handed over: a
socket stays where it was made. Plain requests and CONNECT are answered. A name is looked up once, each of its
addresses has to be public (or allowed by TOOLHUB_HTTP_ALLOW), and the connection goes to one of them.
"""

import contextlib
import select
import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.http.addresses import IPAddress
from core.http.check import allowed_now
from core.http.errors import HttpFailed, HttpRefused
from core.http.names import addresses_open
from security.sandbox.gate_wire import Asked, WireError, asked_read, pump

STEP_S = 10.0
# Why a host is refused that the tool's contract does not name.
NOT_IN_CONTRACT = "not in network.allow"
# So often one that waits for a place looks whether all is over, in s.
WAIT_S = 0.5
CONNECTIONS_MOST = 32
HOSTS_MOST = 100
BYTES_MOST = 64 << 20


@dataclass
class Reached:
    """A host that a run asked for: whether it was let through, how often, the bytes in both directions."""

    host: str
    port: int
    allowed: bool
    why: str = ""
    times: int = 0
    sent: int = 0
    received: int = 0

    def as_dict(self) -> dict[str, Any]:
        """What stands in the run's record."""
        return {name: value for name, value in vars(self).items() if name != "why" or value}


class Gate:
    """One run's way out, to the listening socket that the supervisor sends next at the other end of `way`."""

    def __init__(self, allow: Sequence[str], way: socket.socket, *, bytes_most: int = BYTES_MOST) -> None:
        self._allow = tuple(allow)
        self._left = bytes_most
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._over = False
        self._reached: dict[tuple[str, int, bool, str], Reached] = {}
        # Its own, so that it can be ended without the way, which may serve further runs.
        self._way, (self._ended, self._ends) = way, socket.socketpair()
        self._thread = threading.Thread(target=self._serve, name="gate", daemon=True)
        self._thread.start()

    @property
    def reached(self) -> list[Reached]:
        """The hosts that were asked for, in the order of their first time."""
        with self._lock:
            return list(self._reached.values())

    def close(self) -> None:
        """Ends every connection; afterwards nothing goes through."""
        with self._lock:
            self._over = True
            for each in (self._ends, *self._open):
                _shut(each)
        self._thread.join()
        self._ended.close()
        self._ends.close()

    def _serve(self) -> None:
        try:
            if self._ended in select.select([self._way, self._ended], [], [])[0]:
                return
            _, descriptors, _, _ = socket.recv_fds(self._way, 1, 1)
        except OSError:
            return
        for number in descriptors:
            with socket.socket(fileno=number) as listener, self._kept(listener):
                self._accept(listener)

    def _accept(self, listener: socket.socket) -> None:
        slots = threading.BoundedSemaphore(CONNECTIONS_MOST)
        while not self._over:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            if not self._place(slots):
                client.close()
                return
            threading.Thread(target=self._one, args=(client, slots), name="gate", daemon=True).start()

    def _place(self, slots: threading.BoundedSemaphore) -> bool:
        """Takes a place; false when all is over before one is free."""
        while not slots.acquire(timeout=WAIT_S):
            if self._over:
                return False
        return True

    def _one(self, client: socket.socket, slots: threading.BoundedSemaphore) -> None:
        try:
            with client, self._kept(client), contextlib.suppress(OSError):
                client.settimeout(STEP_S)
                self._answer(client)
        finally:
            slots.release()

    def _answer(self, client: socket.socket) -> None:
        try:
            asked = asked_read(client)
            server, reached = self._connect(asked)
        except WireError as error:
            client.sendall(error.answer)
            return
        with server, self._kept(server):
            client.settimeout(None)
            server.settimeout(None)
            if asked.is_tunnel:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            if asked.first and self._spend(reached, len(asked.first), sent=True):
                server.sendall(asked.first)
            pump(client, server, lambda size, sent: self._spend(reached, size, sent=sent), asked.left)

    def _connect(self, asked: Asked) -> tuple[socket.socket, Reached]:
        """A connection to an address that was checked. Raises WireError with what the tool is told."""
        where = f"{asked.host}:{asked.port}"
        if not any(host_matches(entry, asked.host, asked.port) for entry in self._allow):
            self._note(asked, allowed=False, why=NOT_IN_CONTRACT)
            raise WireError(403, f"{where} is not in network.allow of the tool's contract.")
        try:
            addresses = addresses_open(asked.host, asked.port, allowed_now(), seconds=STEP_S)
        except HttpRefused as error:
            self._note(asked, allowed=False, why=str(error))
            raise WireError(403, f"{where} {error}.") from error
        except HttpFailed as error:
            self._note(asked, allowed=True, why=str(error))
            raise WireError(502, f"{error}.") from error
        for address in addresses[:4]:
            with contextlib.suppress(OSError):
                return _connected(address, asked.port), self._note(asked, allowed=True)
        self._note(asked, allowed=True, why="no connection")
        raise WireError(502, f"No connection to {where}.")

    def _note(self, asked: Asked, *, allowed: bool, why: str = "") -> Reached:
        key = (asked.host, asked.port, allowed, why)
        with self._lock:
            if key not in self._reached and len(self._reached) >= HOSTS_MOST:
                key = ("and more", 0, allowed, "")
            one = self._reached.setdefault(key, Reached(key[0], key[1], allowed, key[3]))
            one.times += 1
            return one

    def _spend(self, reached: Reached, size: int, *, sent: bool) -> bool:
        """Counts bytes before they pass; false when the run may have no more."""
        with self._lock:
            if self._over or size > self._left:
                reached.why = "the run's bytes are spent" if not self._over else reached.why
                return False
            self._left -= size
            if sent:
                reached.sent += size
            else:
                reached.received += size
            return True

    @contextlib.contextmanager
    def _kept(self, one: socket.socket) -> Any:
        """A socket that `close` ends."""
        with self._lock:
            self._open.add(one)
            if self._over:
                _shut(one)
        try:
            yield
        finally:
            with self._lock:
                self._open.discard(one)


def host_matches(entry: str, host: str, port: int) -> bool:
    """Whether an entry of `network.allow` (`host:port`, `*.host:port`) names this host and port."""
    named, _, digits = entry.lower().rpartition(":")
    if digits != str(port):
        return False
    return host.endswith(named[1:]) if named.startswith("*.") else host == named


def _connected(address: IPAddress, port: int) -> socket.socket:
    """A connection to this address: no name is looked up. Raises OSError."""
    made = socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6)
    try:
        made.settimeout(STEP_S)
        made.connect((str(address), port))
    except OSError:
        made.close()
        raise
    return made


def _shut(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
