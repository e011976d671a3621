"""One fetch for all who wait for the same: a slow provider holds few threads, whatever asks."""

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


class Crowded(Exception):
    """Enough callers wait for this fetch already."""


@dataclass
class _Flight(Generic[T]):
    """A fetch under way or done; from `until` on its value or failure is too old."""

    done: threading.Event = field(default_factory=threading.Event)
    waiters: int = 0
    value: T | None = None
    failure: Exception | None = None
    until: float = 0.0


class SharedFetch(Generic[T]):
    """Keeps what `act` fetched for `good_s` seconds, and its failure for `bad_s`.

    Of those who ask meanwhile, `waiters_max` wait for the one fetch; the others get Crowded at once. `act`
    has to end by itself.
    """

    KEYS_MAX = 8

    def __init__(self, *, good_s: float, bad_s: float, waiters_max: int) -> None:
        self._good_s, self._bad_s, self._waiters_max = good_s, bad_s, waiters_max
        self._lock = threading.Lock()
        self._flights: dict[Hashable, _Flight[T]] = {}

    def get(self, key: Hashable, act: Callable[[], T]) -> T:
        """Return the value for the key. Raises Crowded, and whatever `act` raised."""
        flight, mine = self._join(key)
        if mine:
            self._fly(flight, act)
        else:
            flight.done.wait()
        if flight.failure is not None:
            raise flight.failure
        assert flight.value is not None  # noqa: S101 - a fetch that did not fail has one
        return flight.value

    def forget(self, key: Hashable, *, older_s: float) -> None:
        """Make the next caller fetch again, unless the value is younger than `older_s` seconds."""
        with self._lock:
            flight = self._flights.get(key)
            if flight and flight.done.is_set() and flight.until - self._good_s + older_s < time.monotonic():
                del self._flights[key]

    def _join(self, key: Hashable) -> tuple[_Flight[T], bool]:
        with self._lock:
            flight = self._flights.get(key)
            if flight is None or (flight.done.is_set() and flight.until < time.monotonic()):
                while len(self._flights) >= self.KEYS_MAX:
                    del self._flights[next(iter(self._flights))]
                flight = self._flights[key] = _Flight()
                return flight, True
            if not flight.done.is_set():
                if flight.waiters >= self._waiters_max:
                    raise Crowded
                flight.waiters += 1
            return flight, False

    def _fly(self, flight: _Flight[T], act: Callable[[], T]) -> None:
        kept = self._bad_s
        try:
            flight.value = act()
            kept = self._good_s
        except Exception as error:  # noqa: BLE001 - each who waits gets it
            flight.failure = error
        finally:
            flight.until = time.monotonic() + kept
            flight.done.set()
