"""The faults that are planted: one at a time of those of processes, and one of those of services."""

import contextlib
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from chaos.clock import clock, clock_library
from chaos.hub import SLOTS, Hub
from chaos.processes import answers, manage, wait_for

Act = Callable[[Hub, Random], None]
BELLS = 200
# So many seconds pass between two faults of one kind, by chance.
PAUSE_S = (0.5, 2.5)
AWAY_S = (0.5, 4.0)
# Many more connections than the web processes have threads.
SLOW = 100
SLOW_REQUESTS = (
    b"POST /sign-in/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\na",
    b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n",
    b"POST /api/v1/execute HTTP/1.1\r\nHost: 127",
)
OFFSETS = ("+2h", "-2h", "+3d", "-3d")


@dataclass(frozen=True)
class Fault:
    """A fault: its name, how it is planted, and whether it needs a PostgreSQL server of our own."""

    name: str
    act: Act
    needs_server: bool = False
    # Whether it can be planted in this hub, on this machine.
    fits: Callable[[Hub], bool] = lambda _hub: True


def _rest(hub: Hub) -> None:
    """Two leases, and a little: whoever slept so long has lost everything it held."""
    time.sleep(2 * hub.lease_s + 0.5)


def _kill(role: str) -> Act:
    return lambda hub, random: hub.kill(hub.one(role, random))


def _kill_child(role: str) -> Act:
    return lambda hub, random: hub.kill_child(hub.one(role, random), random)


def _stop(role: str) -> Act:
    return lambda hub, random: hub.stop(hub.one(role, random), lambda: _rest(hub))


def _restart(hub: Hub, random: Random) -> None:
    assert hub.database
    hub.database.restart(crash=False)


def _crash(hub: Hub, random: Random) -> None:
    assert hub.database
    hub.database.restart(crash=True)


def _block(hub: Hub, random: Random) -> None:
    assert hub.database
    hub.database.block(2 * hub.lease_s)


def _cut(hub: Hub, random: Random) -> None:
    """Every connection ends in the middle of what it does, while the server itself goes on."""
    assert hub.database
    hub.database.gate.cut()
    hub.database.gate.mend()


def _answer_lost(hub: Hub, random: Random) -> None:
    """A commit that happened, and whose answer nobody hears."""
    assert hub.database
    hub.database.gate.trap(b"COMMIT")


def _broker(hub: Hub, random: Random) -> None:
    hub.broker.lose(random.uniform(*AWAY_S))


def _bells(hub: Hub, random: Random) -> None:
    manage(hub.direct, "chaos_bells", str(BELLS))


def _slow(hub: Hub, random: Random) -> None:
    """Requests that never come whole keep nobody from being answered."""
    with contextlib.ExitStack() as crowd:
        for number in range(SLOW):
            connection = crowd.enter_context(socket.create_connection(("127.0.0.1", hub.port), timeout=5))
            connection.sendall(SLOW_REQUESTS[number % len(SLOW_REQUESTS)])
        wait_for(lambda: answers(f"http://127.0.0.1:{hub.port}/livez"))


def _kill_supervisor(hub: Hub, random: Random) -> None:
    hub.kill_supervisor(hub.one("up", random))


def _kill_guard(hub: Hub, random: Random) -> None:
    hub.kill_guard(hub.one("up", random), random)


def _wrong_clock(role: str) -> Act:
    """The process is killed, and its next one has a clock that is hours ahead or behind."""

    def act(hub: Hub, random: Random) -> None:
        env = clock(random.choice(OFFSETS))
        start = (
            hub.processes.steward if role == "steward" else lambda **env: hub.processes.worker(SLOTS, **env)
        )
        hub.start_anew(hub.one(role, random), lambda: start(**env))

    return act


def _full(hub: Hub, random: Random) -> None:
    assert hub.database
    hub.database.fill(random.uniform(*AWAY_S))


def _has_up(hub: Hub) -> bool:
    return any(role.name == "up" for role in hub.roles)


def _has_disk(hub: Hub) -> bool:
    return hub.database is not None and hub.database.disk is not None


def _has_clock(_hub: Hub) -> bool:
    return clock_library() is not None


PROCESSES = (
    Fault("worker killed", _kill("worker")),
    Fault("worker's child killed", _kill_child("worker")),
    Fault("web killed", _kill("web")),
    Fault("web's child killed", _kill_child("web")),
    Fault("steward killed", _kill("steward")),
    Fault("worker stopped for two leases", _stop("worker")),
    Fault("web stopped for two leases", _stop("web")),
    Fault("steward stopped for two leases", _stop("steward")),
    Fault(f"{SLOW} requests that never come whole", _slow),
    Fault("supervisor killed", _kill_supervisor, fits=_has_up),
    Fault("guard killed", _kill_guard, fits=_has_up),
    Fault("worker's clock wrong by hours", _wrong_clock("worker"), fits=_has_clock),
    Fault("steward's clock wrong by hours", _wrong_clock("steward"), fits=_has_clock),
)
SERVICES = (
    Fault("broker lost with its messages", _broker),
    Fault(f"{BELLS} bells for nothing", _bells),
    Fault("database restarted", _restart, needs_server=True),
    Fault("database crashed", _crash, needs_server=True),
    Fault("database blocked for two leases", _block, needs_server=True),
    Fault("database connections cut", _cut, needs_server=True),
    Fault("a commit's answer lost", _answer_lost, needs_server=True),
    Fault("database's disk full", _full, needs_server=True, fits=_has_disk),
    # The clock of the database itself is not moved: leases go by it.
)


class Planter:
    """Plants the faults of one group, each as often as any other, in an order that the seed gives."""

    def __init__(
        self, hub: Hub, faults: tuple[Fault, ...], random: Random, tell: Callable[[str], None]
    ) -> None:
        self._hub, self._random, self._tell = hub, random, tell
        self._faults = [
            fault for fault in faults if (hub.database or not fault.needs_server) and fault.fits(hub)
        ]
        self.planted: Counter[str] = Counter()
        self.broken: list[str] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="faults")
        self._thread.start()

    def end(self) -> None:
        """Lets the last fault heal, and plants no more."""
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.is_set():
            round_of_all = list(self._faults)
            self._random.shuffle(round_of_all)
            for fault in round_of_all:
                if self._over.wait(self._random.uniform(*PAUSE_S)):
                    return
                self._plant(fault)

    def _plant(self, fault: Fault) -> None:
        self._tell(fault.name)
        try:
            fault.act(self._hub, self._random)
        except Exception as error:  # noqa: BLE001 - whatever it was, the count says that the run is worth nothing
            self.broken.append(f"The fault “{fault.name}” could not be planted: {error!r}")
        else:
            self.planted[fault.name] += 1
