"""A hub that is measured: web processes, a worker and a steward, on a database of its own.

`python -m bench.hub FOLDER` fills the database of its environment, starts the programs of its checkout,
prints `{port, web, world}` as a line of JSON, and ends them all when its input ends.
"""

import contextlib
import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.arms import BATCH, SENDERS, Arm
from bench.checkout import Checkout
from bench.database import Database, Number, sqlite_number
from bench.load import BenchError, Stream, loads
from bench.server import ROOT, clean_environment, ended, free_port, last_words, serving
from toolhub.processes import programs

BROKER = "redis://127.0.0.1:6379/15"
WEB_PROCESSES, THREADS, WORKERS = 2, 16, 2
PATIENCE_S = 120.0
OUTCOMES = "SELECT count(*) FROM audit_event WHERE kind = 'run.outcome'"


@dataclass(frozen=True)
class Hub:
    """A running hub: the root of its web processes, what `bench_prepare` made, and how to count its rows."""

    checkout: Checkout
    database: Database
    number: Number
    port: int
    web: int
    world: Mapping[str, Any]
    environment: Mapping[str, str]

    def batch(self, arm: Arm, calls: int = BATCH) -> float:
        """Runs per second from the first call until as many outcomes are in the ledger."""
        # Only new ones are counted: to count a million again and again would be what is measured.
        newest = self.number("SELECT coalesce(max(id), 0) FROM audit_event")
        begun = time.perf_counter()
        stream = Stream(arm.wires(self.world, self.port), min(SENDERS, calls), calls=calls)
        (answered,) = loads(self.port, [stream], seconds=PATIENCE_S)
        if answered.statuses != {202: calls}:
            raise BenchError(f"respond-async was answered {dict(answered.statuses)}.")
        waited(lambda: self.number(f"{OUTCOMES} AND id > {newest}") >= calls, "outcomes")
        return calls / (time.perf_counter() - begun)


@contextlib.contextmanager
def hub_of(checkout: Checkout, database: Database, folder: Path) -> Iterator[Hub]:
    """Starts a checkout's hub in a folder of its own, on SQLite where `database` has no address."""
    (folder / "metrics").mkdir(parents=True)
    settings = {
        "DJANGO_SETTINGS_MODULE": "bench.settings",
        "TOOLHUB_WEB_WORKERS": str(WEB_PROCESSES),
        "TOOLHUB_WEB_THREADS": str(THREADS),
        "TOOLHUB_QUEUE_PREFIX": f"bench{secrets.token_hex(4)}.",
        "PROMETHEUS_MULTIPROC_DIR": str(folder / "metrics"),
    }
    if database.url:
        settings |= {"TOOLHUB_DATABASE_URL": database.url, "TOOLHUB_BROKER_URL": broker()}
    environment = clean_environment(folder / "data", **settings)
    log = folder / "hub.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(checkout.python), "-m", "bench.hub", str(folder)],
            cwd=checkout.root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            start_new_session=True,
        )
    with ended(process, patience_s=60.0):
        assert process.stdout
        line = process.stdout.readline()
        if not line:
            raise BenchError(f"The hub of {checkout.name} does not start. Its last words:\n{last_words(log)}")
        number = database.number if database.url else sqlite_number(folder / "data" / "toolhub.sqlite3")
        yield Hub(checkout, database, number, environment=environment, **json.loads(line))


def broker() -> str:
    """The broker's address: TOOLHUB_BENCH_BROKER_URL, else Redis on this machine."""
    return os.environ.get("TOOLHUB_BENCH_BROKER_URL", BROKER)


def prepared(environment: Mapping[str, str], *, upstream: int | None = None) -> dict[str, Any]:
    """Fills a fresh database; what `bench_prepare` made there. Raises BenchError.

    `upstream` is the port of a server for the tool that asks one.
    """
    more = [] if upstream is None else [f"--upstream={upstream}"]
    done = subprocess.run(
        [sys.executable, "manage.py", "bench_prepare", *more],
        cwd=ROOT,
        env=dict(environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    if done.returncode:
        raise BenchError(f"The bench's database cannot be filled: {done.stderr.strip()[-500:]}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


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


def waited(done: Callable[[], bool], what: str) -> None:
    """Returns once it is done. Raises BenchError after PATIENCE_S."""
    ends = time.monotonic() + PATIENCE_S
    while not done():
        if time.monotonic() > ends:
            raise BenchError(f"After {PATIENCE_S:.0f} s not all {what} are there.")
        time.sleep(0.05)  # asking costs the hub, whose database counts, more than Celery


def main(folder: Path) -> None:
    """Runs the hub of this checkout until the input ends."""
    environment = dict(os.environ)
    world = prepared(environment)
    port = free_port()
    web = programs.web("127.0.0.1", port, workers=WEB_PROCESSES, threads=THREADS)
    measured = {"toolhub.wsgi:application": "bench.wsgi:application"}
    command = [measured.get(word, word) for word in web.command]
    worker = programs.worker(concurrency=WORKERS, log_level="WARNING")
    steward = programs.steward()
    with (
        running(worker.command, {**environment, **worker.env}, folder / "worker.log"),
        running(steward.command, {**environment, **steward.env}, folder / "steward.log"),
        serving(command, port, {**environment, **web.env}, folder / "web.log") as server,
    ):
        print(json.dumps({"port": port, "web": server.process.pid, "world": world}), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
