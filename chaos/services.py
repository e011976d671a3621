"""Where the hub under faults keeps its rows and rings its bells, and how each of the two can be lost."""

import os
import shutil
import time
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, urlsplit, urlunsplit

import amqp

from chaos.disk import SmallDisk
from chaos.gate import Gate
from chaos.postgres import Postgres
from chaos.redis_server import Redis
from execution.engine.queues import QUEUES
from registry.installations.bells import QUEUE as INSTALL

RABBITMQ = os.environ.get("TOOLHUB_TEST_RABBITMQ", "amqp://guest:guest@127.0.0.1:5672//")


class Broker(Protocol):
    """A broker: its address for the hub, and its faults."""

    url: str

    def lose(self, seconds: float) -> None:
        """It is away for so long, and back without its messages."""

    def remove(self) -> None:
        """Nothing of it stays."""


class RedisBroker:
    """A Redis server of our own, killed and started again."""

    def __init__(self, folder: Path, prefix: str) -> None:
        self._server = Redis(folder / "redis.log")
        self.url = f"redis://127.0.0.1:{self._server.port}/0"

    def lose(self, seconds: float) -> None:
        self._server.kill()
        time.sleep(seconds)
        self._server.start()

    def remove(self) -> None:
        self._server.kill()


class RabbitBroker:
    """The machine's RabbitMQ through a gate of ours, with queues of our own; others do not notice."""

    def __init__(self, folder: Path, prefix: str) -> None:
        self._parts, self._prefix = urlsplit(RABBITMQ), prefix
        self._gate = Gate(self._parts.port or 5672)
        login = self._parts.netloc.rpartition("@")[0]
        self.url = urlunsplit(self._parts._replace(netloc=f"{login}@127.0.0.1:{self._gate.port}"))

    def lose(self, seconds: float) -> None:
        self._gate.cut()
        self._queues("queue_purge")
        time.sleep(seconds)
        self._gate.mend()

    def _queues(self, act: str) -> None:
        connection = amqp.Connection(
            f"{self._parts.hostname}:{self._parts.port or 5672}",
            userid=self._parts.username or "guest",
            password=self._parts.password or "guest",
            virtual_host=self._parts.path[1:] or "/",
            connect_timeout=5,
        )
        connection.connect()
        try:
            for name in (*QUEUES, INSTALL):
                channel = connection.channel()
                channel.queue_declare(f"{self._prefix}{name}", durable=True, auto_delete=False)
                getattr(channel, act)(f"{self._prefix}{name}")
                channel.close()
        finally:
            connection.close()

    def remove(self) -> None:
        self._gate.close()
        self._queues("queue_delete")


class FolderBroker:
    """The embedded broker: its folder is emptied."""

    url = "embedded://"

    def __init__(self, folder: Path, prefix: str) -> None:
        self._spool = folder / "data" / "spool"

    def lose(self, seconds: float) -> None:
        aside = self._spool.with_name("spool.lost")
        if self._spool.exists():
            self._spool.rename(aside)
            shutil.rmtree(aside)

    def remove(self) -> None:
        """It lies in the hub's own folder."""


BROKERS: dict[str, type[RedisBroker] | type[RabbitBroker] | type[FolderBroker]] = {
    "redis": RedisBroker,
    "rabbitmq": RabbitBroker,
    "embedded": FolderBroker,
}


class Database:
    """PostgreSQL of our own behind a gate. `url` is the hub's way to it; no fault closes `direct`."""

    def __init__(self, folder: Path, *, fsync: bool = True) -> None:
        self.server = Postgres(folder / "postgres.log", fsync=fsync)
        self.disk: SmallDisk | None = None
        self.gate = Gate(self.server.port)
        self.url, self.direct = self.server.url(self.gate.port), self.server.url()

    def restart(self, *, crash: bool) -> None:
        """Stops and starts it; what was open is lost."""
        self.server.stop(crash=crash)
        self.server.start()

    def block(self, seconds: float) -> None:
        """For so long not a byte gets through, and nobody is told."""
        self.gate.block()
        time.sleep(seconds)
        self.gate.unblock()

    def fill(self, seconds: float) -> None:
        """For so long the disk of runs and ledger is full."""
        assert self.disk
        self.disk.fill()
        time.sleep(seconds)
        self.disk.clear()

    def remove(self) -> None:
        self.gate.close()
        self.server.stop(crash=True)
        if self.disk:
            self.disk.remove()
        self.server.remove()


def sqlite_url(folder: Path) -> str:
    """The address of a SQLite file in the hub's data folder."""
    return f"sqlite:///{quote(str(folder / 'data' / 'toolhub.sqlite3'))}"
