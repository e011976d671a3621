"""The cast of the tests of workers: real ones, on the test's own database and broker."""

import os
import select
from collections.abc import Callable, Iterator
from pathlib import Path

import kombu
import pytest
from celery import current_app
from django.conf import settings

from tests.execution.fixtures import fx
from tests.processes import Processes, running

__all__ = ["fx"]


def queue_purge() -> int:
    """Empties the broker; returns how many bells were lost."""
    with current_app.connection_for_write() as wire:
        queue = kombu.Queue(f"{settings.QUEUE_PREFIX}default").bind(wire.default_channel)
        queue.declare()
        return int(queue.purge() or 0)


@pytest.fixture
def hub(transactional_db: None) -> Iterator[Processes]:
    """Processes of a hub with leases of 3 s, and no bell from an earlier test."""
    queue_purge()
    yield from running()


class Began:
    """A pipe on which a tool says that it began."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = str(path)
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def wait(self, seconds: float = 60.0) -> tuple[str, int]:
        """Run and attempt that began. Raises AssertionError when none does."""
        ready, _, _ = select.select([self._descriptor], [], [], seconds)
        assert ready, f"nothing began within {seconds} s"
        run, attempt = os.read(self._descriptor, 200).decode().split()[:2]
        return run, int(attempt)

    def close(self) -> None:
        os.close(self._descriptor)


@pytest.fixture
def began(tmp_path: Path) -> Iterator[Callable[[str], Began]]:
    made: list[Began] = []

    def make(name: str) -> Began:
        made.append(Began(tmp_path / name))
        return made[-1]

    yield make
    for each in made:
        each.close()
