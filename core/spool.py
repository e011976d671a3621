"""The embedded broker: a kombu transport over a folder, for one machine.

A message is written to a hidden name and renamed, so that no reader ever sees half of it (kombu's
own filesystem transport can, and then ends the worker). A reader takes it by renaming it again:
of several, one wins. Every failure of a file reads as an empty queue. Messages are doorbells:
one that is lost costs time only.
"""

import os
import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any
from urllib.parse import quote

import orjson
from kombu.transport import TRANSPORT_ALIASES, virtual


class Channel(virtual.Channel):
    """One folder per queue, one file per message, oldest first."""

    do_restore = False

    def _folder(self, queue: str) -> Path:
        options: dict[str, Any] = self.connection.client.transport_options  # type: ignore[union-attr, assignment]
        return Path(options["folder"]) / quote(queue, safe="")

    def _put(self, queue: str, message: dict[str, Any], **kwargs: Any) -> None:
        folder = self._folder(queue)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        name = f"{time.time_ns():020d}-{uuid.uuid4().hex}"
        hidden = folder / f".{name}"
        hidden.write_bytes(orjson.dumps(message))
        hidden.rename(folder / name)

    def _waiting(self, queue: str) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self._folder(queue)) if not name.startswith("."))
        except FileNotFoundError:
            return []

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        folder = self._folder(queue)
        for name in self._waiting(queue):
            taken = folder / f".{name}.{uuid.uuid4().hex}"
            try:
                (folder / name).rename(taken)
                body = taken.read_bytes()
                taken.unlink()
                message: dict[str, Any] = orjson.loads(body)
            except (OSError, ValueError):
                continue
            return message
        raise Empty

    def _size(self, queue: str) -> int:
        return len(self._waiting(queue))

    def _purge(self, queue: str) -> int:
        gone = 0
        for name in self._waiting(queue):
            try:
                (self._folder(queue) / name).unlink()
                gone += 1
            except FileNotFoundError:
                continue
        return gone


class Transport(virtual.Transport):
    """What `embedded://` in a broker's address means, once this module is imported."""

    Channel = Channel
    polling_interval = 0.05
    default_port = 0
    driver_type = "spool"
    driver_name = "spool"
    # Shared by the connections of this process: bindings of queues to exchanges.
    global_state = virtual.BrokerState()

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        self.state = self.global_state

    def driver_version(self) -> str:
        return "1"


TRANSPORT_ALIASES["embedded"] = "core.spool:Transport"
