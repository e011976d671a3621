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
from tests.processes import Processes, environment, running
from toolhub.celery_config import QUEUES

__all__ = ["fx"]


def queues_purge() -> dict[str, int]:
    """Empties the broker; returns how many bells were lost, by queue where there were any."""
    lost = {}
    with current_app.connection_for_write() as wire:
        for name in QUEUES:
            queue = kombu.Queue(f"{settings.QUEUE_PREFIX}{name}").bind(wire.default_channel)
            queue.queue_declare()
            lost[name] = int(queue.purge() or 0)
    return {name: count for name, count in lost.items() if count}


@pytest.fixture(scope="module")
def standing() -> Iterator[list[Processes]]:
    """The worker that tests of a module share, while it lives."""
    started: list[Processes] = []
    yield started
    for processes in started:
        processes.end_all()


@pytest.fixture
def worker(transactional_db: None, standing: list[Processes]) -> None:
    """A worker that carries out one run at a time, shared with other tests, and no bell from an earlier test."""
    queues_purge()
    if not standing:
        standing.append(Processes(environment()))
        standing[0].worker()


@pytest.fixture
def beside(worker: None) -> Iterator[Processes]:
    """Processes beside the shared worker."""
    yield from running()


@pytest.fixture
def hub(transactional_db: None, standing: list[Processes]) -> Iterator[Processes]:
    """Processes of a hub with leases of 3 s; there are no others, and no bell from an earlier test."""
    while standing:
        standing.pop().end_all()
    queues_purge()
    yield from running()


class Began:
    """A pipe on which a tool says that it began."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = str(path)
        # For writing, too: so that the pipe does not end with a tool that was killed.
        self._descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)

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
