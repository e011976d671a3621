"""The hub as `make run` starts it: start, memory, the way over the worker."""

import http.client
import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

from bench.calls import BODY, ECHO, MCP
from bench.database import Database, kept, sqlite_number
from bench.hub import broker
from bench.load import BenchError, load, post
from bench.process_tree import cpu_s, pss_mb
from bench.server import clean_environment, free_port, serving

CALLS, CLIENTS = 500, 8
ASYNC_CALLS = 40
# The most that all processes may take together.
MEMORY_MB = 400.0
# What an MCP client sends before its first call, by the last revision that begins with a handshake.
HANDSHAKE: dict[str, dict[str, Any]] = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
    "tools/list": {},
}


@dataclass
class Embedded:
    """Seconds to the first /readyz 200 and processor seconds till then; PSS in MB; latencies in ms."""

    shape: str
    first_start_s: float = 0.0
    first_cpu_s: float = 0.0
    second_start_s: float = 0.0
    second_cpu_s: float = 0.0
    idle_mb: dict[str, float] = field(default_factory=dict)
    used_mb: dict[str, float] = field(default_factory=dict)
    worker_p50_ms: float = 0.0
    worker_p95_ms: float = 0.0
    faults: list[str] = field(default_factory=list)


def measure(folder: Path, database: Database | None = None) -> Embedded:
    """Starts the hub twice in a fresh data folder and calls it.

    On SQLite with the embedded broker, or on a database that has an address, with the bench's broker.
    """
    if database is None:
        found, data, settings = Embedded("SQLite, embedded broker"), folder / "embedded", {}
    else:
        address = broker()
        found, data = Embedded(f"PostgreSQL, {address.partition(':')[0]}"), folder / "on-postgresql"
        settings = {
            "TOOLHUB_DATABASE_URL": str(database.url),
            "TOOLHUB_BROKER_URL": address,
            "TOOLHUB_QUEUE_PREFIX": f"bench{folder.name}.",
        }
    environment = clean_environment(data, **settings)
    port = free_port()
    command = [sys.executable, "manage.py", "up", "--port", str(port)]
    with serving(command, port, environment, folder / f"{data.name}-first.log") as server:
        found.first_start_s, found.first_cpu_s = server.ready_s, cpu_s(server.process.pid)
    with serving(command, port, environment, folder / f"{data.name}-second.log") as server:
        found.second_start_s, found.second_cpu_s = server.ready_s, cpu_s(server.process.pid)
        token = (data / "demo_token").read_text(encoding="ascii").strip()
        answered = _over_worker(port, token, calls=2, found=found)
        found.idle_mb = pss_mb(server.process.pid)
        answered += _used(port, token)
        answered += _over_worker(port, token, calls=ASYNC_CALLS, found=found)
        found.used_mb = pss_mb(server.process.pid)
    number = database.number if database else sqlite_number(data / "toolhub.sqlite3")
    found.faults = kept(number).faults(answered)
    return found


def _used(port: int, token: str) -> int:
    """Calls echo by REST and by MCP, as clients do that greet and list before; gives how many calls."""
    asked = [(name, {"method": name, "params": params}) for name, params in HANDSHAKE.items()]
    asked.append(("tools/call", {"method": "tools/call", "params": {"name": "echo", **BODY}}))
    requests = [(ECHO, post(port, ECHO, BODY, token))]
    for name, message in asked:
        requests.append((name, post(port, MCP, {"jsonrpc": "2.0", "id": 1, **message}, token)))
    for name, request in requests:
        # By many connections: each web process gets some.
        run = load(port, request, clients=CLIENTS, calls=CALLS)
        if run.answered != CALLS:
            raise BenchError(
                f"Of {CALLS} calls ({name}) only {run.answered} were answered 200: {run.statuses}"
            )
    return 2 * CALLS


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
