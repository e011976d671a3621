"""Product against floor on one server: interleaved runs, medians, ratios within a round."""

import json
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from bench.calls import BODY, ECHO, FLOOR, IMPURE_ECHO, PREPARED
from bench.database import Database, Kept, kept, sqlite_number
from bench.load import BenchError, load, post
from bench.process_tree import cpu_s
from bench.server import ROOT, Server, clean_environment, free_port, serving
from toolhub.processes.programs import web

WORKERS, THREADS = 2, 16
CLIENTS = (1, 32)
PATHS = {"floor": FLOOR, "echo": ECHO, "impure": IMPURE_ECHO}
# What is held against the floor.
ARMS = ("echo", "impure")
WARM_UP_S = 1.0


@dataclass(frozen=True)
class Sample:
    """One run of load: calls per second, latencies in ms; per call the web processes' CPU time in ms
    and the bytes of write-ahead log (PostgreSQL).
    """

    arm: str
    clients: int
    rate: float
    p50_ms: float
    p95_ms: float
    cpu_ms: float
    wal_bytes: float | None


@dataclass
class Throughput:
    """All samples, and whether the rows equal the calls."""

    database: str
    samples: list[Sample] = field(default_factory=list)
    asked: dict[str, Any] = field(default_factory=dict)
    answered: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    kept: Kept | None = None

    def median(self, arm: str, clients: int, figure: str) -> float:
        """The median of a figure over the runs."""
        values = [getattr(s, figure) for s in self.samples if (s.arm, s.clients) == (arm, clients)]
        return float(median(values))

    def has(self, figure: str) -> bool:
        """Whether the figure was measured at all."""
        return all(getattr(sample, figure) for sample in self.samples)

    def ratios(self, arm: str, clients: int, figure: str) -> list[float]:
        """An arm over the floor of each round."""
        rounds: dict[str, list[float]] = defaultdict(list)
        for sample in self.samples:
            if sample.clients == clients:
                rounds[sample.arm].append(getattr(sample, figure))
        return [one / floor for one, floor in zip(rounds[arm], rounds["floor"], strict=True)]

    def as_dict(self) -> dict[str, Any]:
        """For --json: samples, medians are the reader's."""
        ratios = {
            f"{arm}: {figure} at {clients}": self.ratios(arm, clients, figure)
            for arm in ARMS
            for clients in CLIENTS
            for figure in ("rate", "p50_ms", "cpu_ms")
            if self.has(figure)
        }
        return {
            "database": self.database,
            "workers": WORKERS,
            "samples": [asdict(sample) for sample in self.samples],
            "ratios": ratios,
            "asked": self.asked,
            "answered": dict(self.answered),
            "kept": asdict(self.kept) if self.kept else None,
            "faults": self.faults,
        }


def measure(database: Database, folder: Path, *, rounds: int, seconds: float) -> Throughput:
    """Measures on PostgreSQL, or on SQLite where `database` has no address."""
    data = folder / "throughput"
    # As `up` does: the web processes share their figures by files.
    (data / "metrics").mkdir(parents=True)
    settings = {
        "DJANGO_SETTINGS_MODULE": "bench.settings",
        "TOOLHUB_WEB_WORKERS": str(WORKERS),
        "TOOLHUB_WEB_THREADS": str(THREADS),
    }
    if database.url:
        settings["TOOLHUB_DATABASE_URL"] = database.url
    environment = clean_environment(data, **settings)
    found = Throughput("PostgreSQL" if database.url else "SQLite")
    ready = prepared(environment)
    found.asked = ready["asked"]
    found.answered.update(dict.fromkeys(PATHS, PREPARED))
    environment["PROMETHEUS_MULTIPROC_DIR"] = str(data / "metrics")
    port = free_port()
    program = web("127.0.0.1", port, workers=WORKERS, threads=THREADS)
    command = [
        "bench.wsgi:application" if word == "toolhub.wsgi:application" else word for word in program.command
    ]
    with serving(command, port, {**environment, **program.env}, folder / "throughput.log") as server:
        _rounds(found, database, server, ready["token"], rounds, seconds)
    number = database.number if database.url else sqlite_number(data / "toolhub.sqlite3")
    found.kept = kept(number)
    found.faults = found.kept.faults(found.answered["echo"] + found.answered["impure"])
    floor_rows = number("SELECT count(*) FROM bench_floorcall")
    if floor_rows != found.answered["floor"]:
        found.faults.append(f"The floor answered {found.answered['floor']} calls but kept {floor_rows} rows.")
    return found


def prepared(environment: dict[str, str], *, upstream: int | None = None) -> dict[str, Any]:
    """Fills a fresh database; gives `{token, asked}`. Raises BenchError.

    `upstream` is the port of a server for the tool that asks one.
    """
    more = [] if upstream is None else [f"--upstream={upstream}"]
    done = subprocess.run(
        [sys.executable, "manage.py", "bench_prepare", *more],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if done.returncode:
        raise BenchError(f"The bench's database cannot be filled: {done.stderr.strip().splitlines()[-1]}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _rounds(
    found: Throughput, database: Database, server: Server, token: str, rounds: int, seconds: float
) -> None:
    requests = {arm: post(server.port, path, BODY, token) for arm, path in PATHS.items()}
    for arm, request in requests.items():
        warm = load(server.port, request, clients=max(CLIENTS), seconds=WARM_UP_S)
        _tally(found, arm, warm.statuses)
    for number in range(rounds):
        for clients in CLIENTS:
            # Whoever goes first may find the machine in another state; so they take turns.
            for arm in list(PATHS) if number % 2 == 0 else list(reversed(PATHS)):
                wal = database.wal_bytes() if database.url else 0
                busy = cpu_s(server.process.pid)
                run = load(server.port, requests[arm], clients=clients, seconds=seconds)
                busy = cpu_s(server.process.pid) - busy
                _tally(found, arm, run.statuses)
                found.samples.append(
                    Sample(
                        arm,
                        clients,
                        run.rate,
                        run.percentile_ms(50),
                        run.percentile_ms(95),
                        busy * 1000 / run.answered,
                        (database.wal_bytes() - wal) / run.answered if database.url else None,
                    )
                )


def _tally(found: Throughput, arm: str, statuses: Counter[int]) -> None:
    found.answered[arm] += statuses[200]
    other = {status: count for status, count in statuses.items() if status != 200}
    if other:
        raise BenchError(f"The server answered {arm} with {other} beside 200; the figures mean nothing.")
