"""A crowd of accepted runs rings a few bells, at once and at the end of a short time."""

import threading
from typing import Any

import pytest

from execution.engine import bells
from execution.engine.bells import Ringer


class Rung:
    """Notes the bells, and wakes who waits for so many."""

    def __init__(self) -> None:
        self.queues: list[str] = []
        self._changed = threading.Condition()

    def __call__(self, queue: str) -> bool:
        with self._changed:
            self.queues.append(queue)
            self._changed.notify_all()
        return True

    def wait(self, count: int) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: len(self.queues) >= count, 30)


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Rung:
    settings.WORKERS = 2
    noted = Rung()
    monkeypatch.setattr(bells, "ring", noted)
    return noted


def test_one_run_rings_one_bell_at_once(rung: Rung) -> None:
    Ringer().ring_for_one("default")
    assert rung.queues == ["default"]


def test_a_crowd_rings_for_as_many_as_a_worker_carries_out_and_once_more_at_the_end(
    rung: Rung, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    monkeypatch.setattr(bells.time, "sleep", lambda seconds: over.wait(30))
    ringer = Ringer()
    for _ in range(50):
        ringer.ring_for_one("default")
    ringer.ring_for_one("mcp")
    assert rung.queues == ["default", "default", "mcp"]
    over.set()
    assert rung.wait(5)
    assert rung.queues == ["default", "default", "mcp", "default", "default"]


def test_the_last_of_a_crowd_is_always_followed_by_a_bell(rung: Rung) -> None:
    ringer = Ringer()
    for _ in range(3):
        ringer.ring_for_one("default")
    assert rung.wait(3)
    for _ in range(3):
        ringer.ring_for_one("default")
    assert rung.wait(5)
