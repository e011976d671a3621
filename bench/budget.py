"""The time that the bench may take: rounds are left out rather than the bound passed."""

import time
from collections.abc import Callable, Iterator


class Budget:
    """Seconds from now on; `clock` tells the time in seconds."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._begun = clock, clock()
        self._ends = self._begun + seconds

    @property
    def spent_s(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._begun

    def part(self, share: float) -> "Budget":
        """This share of the time that is left."""
        return Budget(share * max(0.0, self._ends - self._clock()), self._clock)

    def rounds(self, most: int) -> Iterator[int]:
        """At most so many numbers, from 0: the first, and each whose round will end in time.

        A round is expected to take as long as the longest before it.
        """
        longest = 0.0
        for number in range(most):
            begun = self._clock()
            if number and begun + longest > self._ends:
                return
            yield number
            longest = max(longest, self._clock() - begun)
