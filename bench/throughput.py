"""The arms under load, in turns: each round measures every arm, and its ratios are those of one round."""

import contextlib
import secrets
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from bench import raw_celery
from bench.arms import ARMS, BATCH, CHANGES, SANDBOX_CLIENTS, SANDBOXES, Arm
from bench.budget import Budget
from bench.calls import PREPARED
from bench.checkout import HERE, Checkout, commit_checkout
from bench.database import Kept, kept, own_database
from bench.hub import WORKERS, Hub, hub_of
from bench.load import SILENCE_S, BenchError, Load, Stream, loads
from bench.process_tree import cpu_s
from bench.server import ended

T = TypeVar("T")
WARM_UP_S = 1.0
# Fewer changes of rights than this part of those that were asked for are told.
CHANGES_LEAST = 0.8


@dataclass(frozen=True)
class Sample:
    """One run of load in one round: calls per second, latencies in ms; per call the web processes' CPU time
    in ms and the bytes of write-ahead log (PostgreSQL). Of a batch the rate alone is known.
    """

    side: str
    arm: str
    clients: int
    round: int
    rate: float
    p50_ms: float | None = None
    p95_ms: float | None = None
    cpu_ms: float | None = None
    wal_bytes: float | None = None


@dataclass
class Throughput:
    """All samples, and whether the rows equal the calls. `sides` names the checkouts, this one first."""

    database: str
    sides: list[str] = field(default_factory=list)
    durability: dict[str, str] = field(default_factory=dict)
    rounds: int = 0
    samples: list[Sample] = field(default_factory=list)
    asked: dict[str, Any] = field(default_factory=dict)
    kept: dict[str, Kept] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def values(self, side: str, arm: str, clients: int, figure: str) -> dict[int, float]:
        """A figure by round; of rounds that have it."""
        found = {
            one.round: getattr(one, figure)
            for one in self.samples
            if (one.side, one.arm, one.clients) == (side, arm, clients)
        }
        return {number: value for number, value in found.items() if value}

    def median(self, side: str, arm: str, clients: int, figure: str) -> float | None:
        """The median of a figure over the rounds; None where it was not measured."""
        values = self.values(side, arm, clients, figure).values()
        return float(median(values)) if values else None

    def ratios(self, arm: str, against: str, clients: int, figure: str) -> list[float]:
        """An arm over another, here, of each round."""
        return _divided(
            self.values(HERE.name, arm, clients, figure), self.values(HERE.name, against, clients, figure)
        )

    def ratios_of_sides(self, arm: str, clients: int, figure: str) -> list[float]:
        """This checkout over the other of each round."""
        here, there = (self.values(side, arm, clients, figure) for side in self.sides)
        return _divided(here, there)


def _divided(ones: Mapping[int, float], others: Mapping[int, float]) -> list[float]:
    return [one / others[number] for number, one in ones.items() if number in others]


@dataclass
class _Side:
    """A hub, what its calls were answered, and what changes rights in it."""

    hub: Hub
    answered: Counter[str] = field(default_factory=Counter)
    changer: "subprocess.Popen[str] | None" = None

    def tally(self, arm: str, run: Load) -> None:
        self.answered[arm] += run.answered
        other = {status: count for status, count in run.statuses.items() if status != 200}
        if other:
            who = f"The server ({self.hub.checkout.name})"
            raise BenchError(f"{who} answered {arm} with {other} beside 200; the figures mean nothing.")


def measure(
    arms: Mapping[str, Arm], folder: Path, budget: Budget, *, rounds: int, seconds: float, beside: str = ""
) -> Throughput:
    """Measures arms on PostgreSQL, or on SQLite where there is none; `beside` names a commit to compare with.

    Raises BenchError.
    """
    with contextlib.ExitStack() as held:
        checkouts = [HERE]
        if beside:
            checkouts.append(held.enter_context(commit_checkout(beside, folder)))
        hubs = [_started(held, checkout, folder) for checkout in checkouts]
        database = hubs[0].database
        found = Throughput("PostgreSQL" if database.url else "SQLite", [each.name for each in checkouts])
        if database.url:
            found.durability = database.durability()
        else:
            found.notes.append(f"No PostgreSQL here ({database.missing}); SQLite is measured instead.")
        found.asked = hubs[0].world["asked"]
        sides = [_Side(hub, Counter(dict.fromkeys(hub.world["asked"], PREPARED))) for hub in hubs]
        possible = _possible(found, arms, hubs)
        course = _Course(found, sides, seconds)
        if "celery" in possible:
            course.celery = held.enter_context(raw_celery.started(hubs[0].environment, folder))
        if any(arm.company == CHANGES for arm in possible.values()):
            for side in sides:
                side.changer = held.enter_context(_changer(side.hub, folder))
        course.warm_up(possible)
        for number in budget.rounds(rounds):
            course.round(possible, number)
        for side in sides:
            _verify(found, side)
    return found


def _started(held: contextlib.ExitStack, checkout: Checkout, folder: Path) -> Hub:
    database = held.enter_context(own_database(f"{checkout.name}_{secrets.token_hex(2)}"))
    return held.enter_context(hub_of(checkout, database, folder / f"hub-{checkout.name}"))


def _possible(found: Throughput, arms: Mapping[str, Arm], hubs: Sequence[Hub]) -> dict[str, Arm]:
    """The arms that can be measured here; notes why others cannot."""
    no_sandbox, no_server = not all(hub.world["sandbox"] for hub in hubs), not hubs[0].database.url
    possible = {}
    for name, arm in arms.items():
        if no_sandbox and arm.needs_sandbox:
            found.notes.append(f"{name} is not measured: no sandbox holds here.")
        elif no_server and arm.is_batch:
            found.notes.append(f"{name} is not measured: it needs PostgreSQL and a broker.")
        else:
            possible[name] = arm
    return possible


@dataclass
class _Course:
    """A measurement under way."""

    found: Throughput
    sides: Sequence[_Side]
    seconds: float
    celery: raw_celery.Celery | None = None

    def warm_up(self, arms: Mapping[str, Arm]) -> None:
        """Calls each arm once; no sample of it is kept."""
        for name, arm in arms.items():
            for side in self._of(arm):
                clients = 2 * WORKERS if arm.is_batch else max(arm.clients)
                seconds = SILENCE_S if arm.warm_up else WARM_UP_S
                calls = 2 * WORKERS if arm.is_batch else arm.warm_up
                self._sample(side, name, arm, clients, 0, seconds, calls)

    def round(self, arms: Mapping[str, Arm], number: int) -> None:
        """Measures each arm on each side.

        The first may find the machine in another state than the last, so the order is turned each time.
        """
        self.found.rounds = number + 1
        turn = _turned(list(arms.items()), number)
        for name, arm in turn:
            for clients in arm.clients:
                for side in _turned(self._of(arm), number):
                    calls = BATCH if arm.is_batch else None
                    one = self._sample(side, name, arm, clients, number, self.seconds, calls)
                    self.found.samples.append(one)

    def _of(self, arm: Arm) -> Sequence[_Side]:
        """Where an arm is measured: what is not the hub's own is the same in every checkout."""
        return self.sides if arm.is_hubs else self.sides[:1]

    def _sample(
        self, side: _Side, name: str, arm: Arm, clients: int, number: int, seconds: float, calls: int | None
    ) -> Sample:
        hub, label = side.hub, side.hub.checkout.name
        if arm.requests is None:
            assert self.celery
            return Sample(label, name, clients, number, self.celery.rate(calls or BATCH))
        if arm.is_batch:
            rate = hub.batch(arm, calls or BATCH)
            side.answered[name] += calls or BATCH
            return Sample(label, name, clients, number, rate)
        streams = [Stream(arm.wires(hub.world, hub.port), clients, arm.pause_s, calls)]
        if arm.company == SANDBOXES:
            streams.append(Stream(ARMS["isolated"].wires(hub.world, hub.port), SANDBOX_CLIENTS))
        wal, busy = hub.database.wal_bytes() if hub.database.url else 0, cpu_s(hub.web)
        with _changes(self.found, side, seconds) if arm.company == CHANGES else contextlib.nullcontext():
            run, *company = loads(hub.port, streams, seconds=seconds)
        side.tally(name, run)
        for other in company:
            side.tally("isolated", other)
        return Sample(
            label,
            name,
            clients,
            number,
            run.rate,
            run.percentile_ms(50),
            run.percentile_ms(95),
            (cpu_s(hub.web) - busy) * 1000 / run.answered,
            (hub.database.wal_bytes() - wal) / run.answered if hub.database.url else None,
        )


def _turned(things: "Sequence[T]", number: int) -> "Sequence[T]":
    return things if number % 2 == 0 else things[::-1]


@contextlib.contextmanager
def _changer(hub: Hub, folder: Path) -> "Iterator[subprocess.Popen[str]]":
    """A process that changes rights when it is told to."""
    with (folder / f"changes-{hub.checkout.name}.log").open("wb") as log:
        process = subprocess.Popen(
            [str(hub.checkout.python), "manage.py", "bench_changes"],
            cwd=hub.checkout.root,
            env=dict(hub.environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )
    with ended(process):
        yield process


@contextlib.contextmanager
def _changes(found: Throughput, side: _Side, seconds: float) -> Iterator[None]:
    """Rights of another persona change meanwhile; notes when it is seldomer than it should be."""
    process = side.changer
    assert process
    assert process.stdin
    assert process.stdout
    process.stdin.write(f"{seconds}\n")
    process.stdin.flush()
    yield
    words = process.stdout.readline().split()
    if not words:
        raise BenchError("What changes rights went away.")
    made, wanted = map(int, words)
    if made < CHANGES_LEAST * wanted:
        found.notes.append(f"Only {made} of {wanted} changes of rights were made in {seconds:g} s.")


def _verify(found: Throughput, side: _Side) -> None:
    """Notes as faults where rows do not equal calls."""
    name, number = side.hub.checkout.name, side.hub.number
    rows = kept(number)
    found.kept[name] = rows
    others = sum(side.answered[name] for name, arm in ARMS.items() if not arm.is_hubs)
    found.faults += rows.faults(side.answered.total() - others)
    floor_rows = number("SELECT count(*) FROM bench_floorcall")
    if floor_rows != others:
        found.faults.append(f"The floors answered {others} calls but kept {floor_rows} rows.")
