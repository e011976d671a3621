"""A pool of connections that lends none whose server has gone."""

import select
from typing import Any

from psycopg import Connection
from psycopg_pool import ConnectionPool, PoolTimeout


class Pool(ConnectionPool[Connection[Any]]):
    """psycopg's own pool; a restart of the server costs no call an error, and a loan no round trip."""

    def getconn(self, timeout: float | None = None) -> Connection[Any]:
        """Lends a connection. Raises PoolTimeout when there is none within `timeout` seconds."""
        # Not by the pool's own `check`: it asks the server each time, and waits 1 s after each that is lost.
        while True:
            connection = super().getconn(timeout)
            if is_at_rest(connection):
                return connection
            connection.close()
            self.putconn(connection)


def pool_use(database: dict[str, Any], size: int) -> None:
    """Has this process's threads share so many connections to a database (of settings, not open)."""
    # A connection that cannot be made is given up soon; the next call tries anew, without a pause.
    pool = {"min_size": min(2, size), "max_size": size, "timeout": 10, "reconnect_timeout": 2}
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
