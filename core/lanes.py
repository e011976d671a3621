"""Lanes: fair turns at a bounded resource for several classes of work, such as calls, cancels and pages."""

import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field

# The class of work that a request is; the hub's own threads (heartbeats, notices) have none.
OWN = ""
LANE: ContextVar[str] = ContextVar("lane", default=OWN)
# A place is waited for no longer than this many seconds, even where others go on getting theirs.
LONGEST_S = 60.0


@dataclass
class _Waiter:
    granted: threading.Event = field(default_factory=threading.Event)


class Lanes:
    """Places that threads take and give back, each in its lane and in the order in which they came.

    No lane takes the last `reserve` places; the hub's own threads may. A place that is given back goes to the
    waiting lane that holds the fewest, and among equals to the one whose last turn is longest ago.
    `patience_s` is how long nobody may get on before those who wait give up: a resource that is only busy is
    waited for, one that is gone is not.
    """

    def __init__(
        self, places: int, *, reserve: int, patience_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._places, self._most, self._patience_s = places, max(1, places - reserve), patience_s
        self._clock = clock
        self._lock = threading.Lock()
        self._held: Counter[str] = Counter()
        self._total = 0
        self._waiting: dict[str, deque[_Waiter]] = {}
        # The number of each lane's last turn.
        self._turns: dict[str, int] = {}
        self._turn = 0
        self._moved = clock()

    def enter(self, lane: str) -> None:
        """Take a place, or wait for one. Raises TimeoutError when nobody gets on, or after LONGEST_S."""
        with self._lock:
            if not self._waiting.get(lane) and self._is_free(lane):
                self._grant(lane)
                return
            waiter = _Waiter()
            self._waiting.setdefault(lane, deque()).append(waiter)
            begun = self._clock()
        while not waiter.granted.wait(self._left(begun)):
            with self._lock:
                if waiter.granted.is_set():
                    return
                if self._left(begun) <= 0:
                    self._waiting[lane].remove(waiter)
                    raise TimeoutError("no place in time")

    def leave(self, lane: str) -> None:
        """Give a place back."""
        with self._lock:
            self._held[lane] -= 1
            self._total -= 1
            while (following := self._next()) is not None:
                self._grant(following)
                self._waiting[following].popleft().granted.set()

    def moved(self) -> None:
        """Note that somebody who had a place got on: those who wait for one go on waiting."""
        self._moved = self._clock()

    def _left(self, begun: float) -> float:
        """Seconds after which a waiter gives up."""
        ends = min(max(begun, self._moved) + self._patience_s, begun + LONGEST_S)
        return max(0.0, ends - self._clock())

    def _is_free(self, lane: str) -> bool:
        return self._total < self._places and (lane == OWN or self._held[lane] < self._most)

    def _grant(self, lane: str) -> None:
        self._held[lane] += 1
        self._total += 1
        self._turn += 1
        self._turns[lane] = self._turn

    def _next(self) -> str | None:
        """The lane whose first waiter is next; the hub's own threads come before all."""
        lanes = [lane for lane, waiting in self._waiting.items() if waiting and self._is_free(lane)]
        return min(
            lanes, key=lambda lane: (lane != OWN, self._held[lane], self._turns.get(lane, 0)), default=None
        )


def is_mcp(path: str) -> bool:
    """Whether MCP clients come in at a path."""
    return path == "/mcp" or path.startswith("/mcp/")


def lane_of(path: str) -> str:
    """Return the lane of a request by its path.

    Calls wait in one lane, so that what stops them, what looks after the hub and what people look at
    never waits behind them.
    """
    if path.startswith("/api/v1/tools/") and path.endswith("/execute"):
        return "calls"
    if path == "/api/v1/execute" or is_mcp(path):
        return "calls"
    if path.startswith("/api/"):
        return "cancels" if path.endswith("/cancel") else "api"
    return "health" if path in _HEALTH else "pages"


_HEALTH = frozenset({"/livez", "/healthz", "/readyz", "/metrics"})
