"""Two thousand clients that ask to wait for a run: do they slow others down? With and without, in turns."""

import contextlib
import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench.budget import Budget
from bench.calls import BODY, ECHO
from bench.database import Database
from bench.hub import prepared
from bench.load import BenchError, load, post
from bench.server import ROOT, clean_environment, ended, files_allow, free_port, serving
from toolhub.processes.programs import web

CROWD, CLIENTS, WORKERS, THREADS = 2000, 8, 2, 64


@dataclass
class Waiting:
    """Echos per second, and p95 in ms, of each round; how many of the crowd were told to come later."""

    alone: list[float] = field(default_factory=list)
    crowded: list[float] = field(default_factory=list)
    alone_p95_ms: list[float] = field(default_factory=list)
    crowded_p95_ms: list[float] = field(default_factory=list)
    later: int = 0
    faults: list[str] = field(default_factory=list)

    def ratios(self) -> list[float]:
        """Crowded over alone of each round."""
        return [crowded / alone for crowded, alone in zip(self.crowded, self.alone, strict=True)]


def measure(database: Database, folder: Path, budget: Budget, *, rounds: int, seconds: float) -> Waiting:
    """Measures on a database of its own, without a worker; `database` must have an address."""
    data = folder / "waiting"
    (data / "metrics").mkdir(parents=True)
    environment = clean_environment(
        data, DJANGO_SETTINGS_MODULE="bench.settings", TOOLHUB_DATABASE_URL=str(database.url)
    )
    token = prepared(environment)["tokens"]["bench"]
    environment["PROMETHEUS_MULTIPROC_DIR"] = str(data / "metrics")
    found, port = Waiting(), free_port()
    files_allow()
    program = web("127.0.0.1", port, workers=WORKERS, threads=THREADS)
    with serving(program.command, port, {**environment, **program.env}, folder / "waiting.log"):
        run = _accepted(port, token)
        request = post(port, ECHO, BODY, token)
        load(port, request, clients=CLIENTS, seconds=1.0)
        for _ in budget.rounds(rounds):
            alone = load(port, request, clients=CLIENTS, seconds=seconds)
            with _crowd(port, token, run) as later:
                found.later = later
                crowded = load(port, request, clients=CLIENTS, seconds=seconds)
            for one in (alone, crowded):
                if set(one.statuses) != {200}:
                    raise BenchError(f"Calls beside the crowd were answered {dict(one.statuses)}.")
            found.alone.append(alone.rate)
            found.crowded.append(crowded.rate)
            found.alone_p95_ms.append(alone.percentile_ms(95))
            found.crowded_p95_ms.append(crowded.percentile_ms(95))
    return found


def _accepted(port: int, token: str) -> str:
    """A run that waits: no worker is there."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Authorization": f"Bearer {token}", "Prefer": "respond-async"}
    connection.request("POST", ECHO, json.dumps(BODY), headers)
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return str(answer["metadata"]["run_id"])


@contextlib.contextmanager
def _crowd(port: int, token: str, run: str) -> Iterator[int]:
    """The crowd, once all have asked; gives how many were told to come later."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.crowd", str(port), token, run, str(CROWD)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with ended(process):
        assert process.stdout
        told = process.stdout.readline().split()
        if not told:
            raise BenchError("The crowd went away.")
        yield int(told[1])


def waiting_lines(found: Waiting) -> list[str]:
    """The figures for people."""
    ratios = found.ratios()
    return [
        (
            f"Echo of {CLIENTS} clients beside {CROWD} that wait for a run ({found.later} of these were "
            f"told to come later), {WORKERS} web processes; medians of {len(ratios)} runs in turns"
        ),
        f"  alone {median(found.alone):.0f} req/s, p95 {median(found.alone_p95_ms):.1f} ms",
        f"  beside them {median(found.crowded):.0f} req/s, p95 {median(found.crowded_p95_ms):.1f} ms",
        f"  beside / alone {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
    ]
