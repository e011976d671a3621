"""A pool of connections that lends none whose server has gone, and that no class of work can use up."""

import select
from typing import Any

from psycopg import Connection
from psycopg_pool import ConnectionPool, PoolTimeout

from core.lanes import LANE, Lanes

# Seconds that a connection is waited for while none is lent.
PATIENCE_S = 10


class Pool(ConnectionPool[Connection[Any]]):
    """psycopg's own pool; a restart of the server costs no call an error, and a loan no round trip.

    Threads wait for a connection in lanes: those of calls leave some to cancels, health and pages.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._lanes = Lanes(self.max_size, reserve=reserve_of(self.max_size), patience_s=self.timeout)
        # In whose lane a connection is lent.
        self._lent: dict[int, str] = {}

    def getconn(self, timeout: float | None = None) -> Connection[Any]:
        """Lend a connection. Raises PoolTimeout when the server gives none in time."""
        lane = LANE.get()
        try:
            self._lanes.enter(lane)
        except TimeoutError as error:
            raise PoolTimeout("no connection is given back") from error
        try:
            connection = self._working(timeout)
        except BaseException:
            self._lanes.leave(lane)
            raise
        self._lent[id(connection)] = lane
        self._lanes.moved()
        return connection

    def putconn(self, conn: Connection[Any]) -> None:
        """Take a lent connection back."""
        lane = self._lent.pop(id(conn), None)
        try:
            super().putconn(conn)
        finally:
            if lane is not None:
                self._lanes.leave(lane)

    def _working(self, timeout: float | None) -> Connection[Any]:
        # Not by the pool's own `check`: it asks the server each time, and waits 1 s after each that is lost.
        while True:
            connection = super().getconn(timeout)
            if is_at_rest(connection):
                return connection
            connection.close()
            super().putconn(connection)


def reserve_of(size: int) -> int:
    """Return how many of a pool's connections no single class of work may take."""
    return min(size - 1, max(1, size // 5))


def pool_use(database: dict[str, Any], size: int) -> None:
    """Has this process's threads share so many connections to a database (of settings, not open)."""
    # A connection that cannot be made is given up soon; the next call tries anew, without a pause.
    pool = {"min_size": min(2, size), "max_size": size, "timeout": PATIENCE_S, "reconnect_timeout": 2}
    database["OPTIONS"] = {**database["OPTIONS"], "pool": pool}
    # The pool keeps them: no thread does.
    database["CONN_MAX_AGE"], database["CONN_HEALTH_CHECKS"] = 0, False


def is_unsent(error: BaseException) -> bool:
    """Whether nothing reached the server, because there was no connection to send it by."""
    return isinstance(error.__cause__, PoolTimeout)


def is_at_rest(connection: Connection[Any]) -> bool:
    """Whether nothing came from the server since the connection was last used. One poll, about 1 µs.

    A server says something unasked when it ends the session, and its socket ends then. Whatever else it
    may say (a changed parameter) costs a new connection once.
    """
    if connection.closed:
        return False
    said = select.poll()
    said.register(connection.fileno(), select.POLLIN)
    return not said.poll(0)
