"""Accepted, carried out by a worker, recorded: against raw Celery on the same broker, in turns."""

import contextlib
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench.calls import BODY, ECHO
from bench.database import Database, kept
from bench.load import BenchError, load, post
from bench.server import ROOT, clean_environment, ended, free_port, serving
from bench.throughput import prepared
from toolhub.processes import programs

BROKER = "redis://127.0.0.1:6379/15"
CALLS, CLIENTS, WORKERS = 400, 16, 2
PATIENCE_S = 120.0
OUTCOMES = "SELECT count(*) FROM audit_event WHERE kind = 'run.outcome'"


@dataclass
class Queued:
    """Runs, and tasks of raw Celery, per second from the first call to the last outcome, of each round."""

    broker: str
    runs: list[float] = field(default_factory=list)
    tasks: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def ratios(self) -> list[float]:
        """Runs over tasks of each round."""
        return [run / task for run, task in zip(self.runs, self.tasks, strict=True)]


@dataclass(frozen=True)
class Hub:
    """A running hub with a worker of WORKERS: its call with respond-async, ready to be sent."""

    database: Database
    port: int
    request: bytes
    environment: dict[str, str]

    def runs(self, calls: int) -> float:
        """Runs per second from the first call until as many outcomes are in the ledger."""
        # Only new ones are counted: to count a million again and again would be what is measured.
        newest = self.database.number("SELECT coalesce(max(id), 0) FROM audit_event")
        begun = time.perf_counter()
        answered = load(self.port, self.request, clients=min(CLIENTS, calls), calls=calls)
        if answered.statuses != {202: calls}:
            raise BenchError(f"respond-async was answered {dict(answered.statuses)}.")
        _await(lambda: self.database.number(f"{OUTCOMES} AND id > {newest}") >= calls, "outcomes")
        return calls / (time.perf_counter() - begun)


def measure(database: Database, folder: Path, *, rounds: int) -> Queued:
    """Measures on a database of its own; `database` must have an address."""
    found = Queued(_broker().partition(":")[0])
    with queue_hub(database, folder, "queue") as hub:
        before = database.number(OUTCOMES)
        environment = hub.environment
        noted = Path(environment["BENCH_FILE"])
        command = [sys.executable, "-m", "celery", "--quiet", "-A", "bench.celery_floor", "worker"]
        command += ["--pool", "prefork", "--concurrency", str(WORKERS), "--prefetch-multiplier", "1"]
        command += ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "WARNING"]
        command += ["--queues", environment["BENCH_QUEUE"]]
        with running(command, environment, folder / "floor.log"):
            hub.runs(2 * WORKERS)  # workers that have started, not those that start
            _tasks(environment, noted, 2 * WORKERS)
            for _ in range(rounds):
                found.tasks.append(_tasks(environment, noted, CALLS))
                found.runs.append(hub.runs(CALLS))
    found.faults = kept(database.number).faults(before + 2 * WORKERS + rounds * CALLS)
    return found


def _broker() -> str:
    return os.environ.get("TOOLHUB_BENCH_BROKER_URL", BROKER)


@contextlib.contextmanager
def queue_hub(database: Database, folder: Path, name: str) -> Iterator[Hub]:
    """Web, worker and steward on a database that has an address."""
    data, prefix = folder / name, f"bench{secrets.token_hex(4)}."
    (data / "metrics").mkdir(parents=True)
    environment = clean_environment(
        data,
        DJANGO_SETTINGS_MODULE="bench.settings",
        TOOLHUB_DATABASE_URL=str(database.url),
        TOOLHUB_BROKER_URL=_broker(),
        TOOLHUB_QUEUE_PREFIX=prefix,
    )
    token = prepared(environment)["token"]
    environment |= {
        "PROMETHEUS_MULTIPROC_DIR": str(data / "metrics"),
        "BENCH_BROKER_URL": _broker(),
        "BENCH_QUEUE": f"{prefix}floor",
        "BENCH_FILE": str(folder / f"{name}.noted"),
    }
    port = free_port()
    web = programs.web("127.0.0.1", port, workers=2, threads=CLIENTS)
    worker = programs.worker(concurrency=WORKERS, log_level="WARNING")
    steward = programs.steward()
    with (
        running(worker.command, {**environment, **worker.env}, folder / f"{name}.worker.log"),
        running(steward.command, {**environment, **steward.env}, folder / f"{name}.steward.log"),
        serving(web.command, port, {**environment, **web.env}, folder / f"{name}.web.log"),
    ):
        yield Hub(database, port, post(port, ECHO, BODY, token, Prefer="respond-async"), environment)


@contextlib.contextmanager
def running(command: list[str], environment: Mapping[str, str], log: Path) -> Iterator[None]:
    """A process beside the server; ended afterwards."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        with ended(process):
            yield


def _tasks(environment: Mapping[str, str], file: Path, calls: int) -> float:
    """Tasks of raw Celery per second, from the first sending until as many have run."""
    goal = (file.stat().st_size if file.exists() else 0) + calls
    sender = subprocess.Popen(
        [sys.executable, "-m", "bench.celery_send", str(calls)],
        cwd=ROOT,
        env=dict(environment),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with ended(sender):
        assert sender.stdout
        begun = float(sender.stdout.readline())
        _await(lambda: file.exists() and file.stat().st_size >= goal, "tasks")
        return calls / (time.monotonic() - begun)


def _await(done: Callable[[], bool], what: str) -> None:
    ends = time.monotonic() + PATIENCE_S
    while not done():
        if time.monotonic() > ends:
            raise BenchError(f"After {PATIENCE_S:.0f} s not all {what} are there.")
        time.sleep(0.05)  # asking costs the hub, whose database counts, more than Celery


def queue_lines(found: Queued) -> list[str]:
    """The figures for people."""
    ratios = found.ratios()
    return [
        (
            f"Accepted, carried out by a worker of {WORKERS} and recorded, on PostgreSQL and {found.broker}; "
            f"medians of {len(ratios)} runs in turns"
        ),
        f"  runs {median(found.runs):.0f}/s; tasks of raw Celery {median(found.tasks):.0f}/s",
        f"  runs / tasks {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
    ]
