"""The hub as `make run` starts it (SQLite, embedded broker): start, memory, the way over the worker."""

import http.client
import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles

from bench.calls import BODY, ECHO
from bench.database import kept, sqlite_number
from bench.load import BenchError, load, post
from bench.process_tree import cpu_s, pss_mb
from bench.server import clean_environment, free_port, serving

CALLS, CLIENTS = 500, 8
ASYNC_CALLS = 40


@dataclass
class Embedded:
    """Seconds to the first /readyz 200 and processor seconds till then; PSS in MB; latencies in ms."""

    first_start_s: float = 0.0
    first_cpu_s: float = 0.0
    second_start_s: float = 0.0
    second_cpu_s: float = 0.0
    idle_mb: dict[str, float] = field(default_factory=dict)
    used_mb: dict[str, float] = field(default_factory=dict)
    worker_p50_ms: float = 0.0
    worker_p95_ms: float = 0.0
    faults: list[str] = field(default_factory=list)


def measure(folder: Path) -> Embedded:
    """Starts the hub twice in a fresh data folder and calls it."""
    data = folder / "embedded"
    environment = clean_environment(data)
    port = free_port()
    command = [sys.executable, "manage.py", "up", "--port", str(port)]
    found = Embedded()
    with serving(command, port, environment, folder / "first.log") as server:
        found.first_start_s, found.first_cpu_s = server.ready_s, cpu_s(server.process.pid)
    with serving(command, port, environment, folder / "second.log") as server:
        found.second_start_s, found.second_cpu_s = server.ready_s, cpu_s(server.process.pid)
        token = (data / "demo_token").read_text(encoding="ascii").strip()
        answered = _over_worker(port, token, calls=2, found=found)
        found.idle_mb = pss_mb(server.process.pid)
        run = load(port, post(port, ECHO, BODY, token), clients=CLIENTS, calls=CALLS)
        if run.answered != CALLS:
            raise BenchError(f"Of {CALLS} calls only {run.answered} were answered 200: {run.statuses}")
        answered += run.answered + _over_worker(port, token, calls=ASYNC_CALLS, found=found)
        found.used_mb = pss_mb(server.process.pid)
    found.faults = kept(sqlite_number(data / "toolhub.sqlite3")).faults(answered)
    return found


def _over_worker(port: int, token: str, *, calls: int, found: Embedded) -> int:
    """Calls with respond-async and then waits for each run; gives how many calls had an outcome."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    latencies = []
    for _ in range(calls):
        begun = time.perf_counter()
        connection.request("POST", ECHO, json.dumps(BODY), {**headers, "Prefer": "respond-async"})
        accepted = connection.getresponse()
        accepted.read()
        if accepted.status != http.client.ACCEPTED:
            raise BenchError(f"respond-async was answered {accepted.status}.")
        connection.request("GET", f"{accepted.headers['Location']}?wait=30", headers=headers)
        result = json.loads(connection.getresponse().read())
        if result["success"] is not True:
            raise BenchError(f"A run over the worker ended so: {result['metadata']['status']}.")
        latencies.append((time.perf_counter() - begun) * 1000)
    connection.close()
    cut = quantiles(latencies, n=100, method="inclusive")
    found.worker_p50_ms, found.worker_p95_ms = cut[49], cut[94]
    return len(latencies)
