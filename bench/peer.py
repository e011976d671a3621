"""A tool that asks a server, called over the hub and over a peer: IBM's ContextForge, on the same PostgreSQL.

Both have two web processes and ask the same server. The peer is installed into a virtual environment of the
bench, or is the one whose Python `TOOLHUB_BENCH_PEER` names.
"""

import contextlib
import json
import os
import secrets
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from bench.calls import BODY, PREPARED, WEB_CALL
from bench.database import Database, kept
from bench.hub import THREADS, WEB_PROCESSES, prepared
from bench.load import BenchError, Load, load, post
from bench.process_tree import cpu_s
from bench.server import Server, clean_environment, free_port, serving
from toolhub.processes.programs import web

PEER = ("mcp-contextforge-gateway==1.0.7.post20260921", "gunicorn", "uvicorn", "psycopg[binary]")
CLIENTS = 8
ADMIN = "admin@example.com"


@dataclass
class Compared:
    """Calls per second and ms of processor time per call of each round, of the hub and of the peer."""

    hub: list[float] = field(default_factory=list)
    peer: list[float] = field(default_factory=list)
    hub_cpu_ms: list[float] = field(default_factory=list)
    peer_cpu_ms: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def ratios(self) -> list[float]:
        """Hub over peer of each round."""
        return [hub / peer for hub, peer in zip(self.hub, self.peer, strict=True)]


def measure(own: Database, peers: Database, folder: Path, *, rounds: int, seconds: float) -> Compared:
    """Measures in turns; each database must have an address. Raises BenchError."""
    found, answered = Compared(), PREPARED
    python = _peer_python(folder)
    with (
        _upstream(folder) as upstream,
        _hub(own, folder, upstream) as (hub, hub_request),
        _peer(python, peers, folder, upstream) as (peer, peer_request),
    ):
        for number in range(-1, rounds):
            runs = {}
            sides = (("hub", hub, hub_request), ("peer", peer, peer_request))
            for name, server, request in sides if number % 2 else reversed(sides):
                busy = cpu_s(server.process.pid)
                run = load(server.port, request, clients=CLIENTS, seconds=seconds)
                runs[name] = (run, (cpu_s(server.process.pid) - busy) * 1000 / max(run.answered, 1))
                _all_well(name, run)
            answered += runs["hub"][0].answered
            if number < 0:  # to warm up
                continue
            found.hub.append(runs["hub"][0].rate)
            found.peer.append(runs["peer"][0].rate)
            found.hub_cpu_ms.append(runs["hub"][1])
            found.peer_cpu_ms.append(runs["peer"][1])
    found.faults = kept(own.number).faults(answered)
    return found


def peer_lines(found: Compared) -> list[str]:
    """The figures for people."""
    ratios = found.ratios()
    return [
        f"A tool that posts to a server here: {CLIENTS} clients, {WEB_PROCESSES} web processes, PostgreSQL;",
        f"medians of {len(ratios)} runs in turns",
        f"  hub {median(found.hub):.0f} req/s, {median(found.hub_cpu_ms):.1f} ms of processor time a call",
        f"  {PEER[0]} {median(found.peer):.0f} req/s, {median(found.peer_cpu_ms):.1f} ms",
        f"  hub / peer {median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})",
    ]


def _all_well(name: str, run: Load) -> None:
    if set(run.statuses) != {200}:
        raise BenchError(f"The {name} answered {dict(run.statuses)}; the figures mean nothing.")


@contextlib.contextmanager
def _upstream(folder: Path) -> Iterator[int]:
    port = free_port()
    command = [sys.executable, "-m", "bench.upstream", str(port)]
    with serving(command, port, dict(os.environ), folder / "upstream.log"):
        yield port


@contextlib.contextmanager
def _hub(database: Database, folder: Path, upstream: int) -> Iterator[tuple[Server, bytes]]:
    data = folder / "peer-hub"
    (data / "metrics").mkdir(parents=True)
    settings = {
        "DJANGO_SETTINGS_MODULE": "bench.settings",
        "TOOLHUB_DATABASE_URL": str(database.url),
        "TOOLHUB_HTTP_ALLOW": f"127.0.0.1:{upstream}",
    }
    environment = clean_environment(data, **settings)
    token = prepared(environment, upstream=upstream)["tokens"]["bench"]
    environment["PROMETHEUS_MULTIPROC_DIR"] = str(data / "metrics")
    port = free_port()
    program = web("127.0.0.1", port, workers=WEB_PROCESSES, threads=THREADS)
    with serving(program.command, port, {**environment, **program.env}, folder / "peer-hub.log") as server:
        yield server, post(port, WEB_CALL, BODY, token)


def _peer_python(folder: Path) -> Path:
    """The Python of the peer's environment, which is made where none is named."""
    if named := os.environ.get("TOOLHUB_BENCH_PEER"):
        return Path(named)
    made = folder / "peer-venv"
    for command in (
        [sys.executable, "-m", "venv", str(made)],
        [str(made / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", *PEER],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
        if done.returncode:
            raise BenchError("The peer cannot be installed; name its Python in TOOLHUB_BENCH_PEER.")
    return made / "bin" / "python"


@contextlib.contextmanager
def _peer(python: Path, database: Database, folder: Path, upstream: int) -> Iterator[tuple[Server, bytes]]:
    """The peer with one tool that posts to the upstream server."""
    port, word = free_port(), f"Aa1!{secrets.token_urlsafe(24)}"
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("TOOLHUB_")},
        "DATABASE_URL": str(database.url).replace("postgres://", "postgresql+psycopg://", 1),
        "JWT_SECRET_KEY": secrets.token_urlsafe(48),
        "AUTH_ENCRYPTION_SECRET": secrets.token_urlsafe(48),
        "PLATFORM_ADMIN_EMAIL": ADMIN,
        "PLATFORM_ADMIN_PASSWORD": word,
        "BASIC_AUTH_PASSWORD": word,
        "MCPGATEWAY_UI_ENABLED": "false",
        "PLUGINS_ENABLED": "false",
        "SSRF_ALLOW_LOCALHOST": "true",
        "SSRF_ALLOW_PRIVATE_NETWORKS": "true",
        "LOG_LEVEL": "WARNING",
        "CACHE_TYPE": "database",
    }
    command = [str(python), "-m", "gunicorn", "-k", "uvicorn.workers.UvicornWorker", "-w", str(WEB_PROCESSES)]
    command += ["-b", f"127.0.0.1:{port}", "mcpgateway.main:app"]
    log = folder / "peer.log"
    with serving(command, port, environment, log, ready="/health", folder=folder) as server:
        token = _peer_token(python, environment)
        tool = {
            "name": "echo",
            "url": f"http://127.0.0.1:{upstream}/echo",
            "integration_type": "REST",
            "request_type": "POST",
            "description": "Posts a text to a server, which says it back.",
            "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}},
        }
        _ask(port, "/tools", {"tool": tool}, token)
        call = {"name": "echo", "arguments": BODY["arguments"]}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        said = _ask(port, "/rpc", body, token)
        if said.get("result", {}).get("isError") is not False:
            raise BenchError("The peer's tool does not answer.")
        yield server, post(port, "/rpc", body, token)


def _peer_token(python: Path, environment: dict[str, str]) -> str:
    words = ["-m", "mcpgateway.utils.create_jwt_token", "--username", ADMIN, "--admin", "--exp", "60"]
    done = subprocess.run(
        [str(python), *words, "--secret", environment["JWT_SECRET_KEY"]],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if done.returncode or not done.stdout.strip():
        raise BenchError("The peer gives no token.")
    return done.stdout.strip().splitlines()[-1]


def _ask(port: int, path: str, body: Any, token: str) -> dict[str, Any]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        json.dumps(body).encode(),
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            said: dict[str, Any] = json.load(answer)
            return said
    except OSError as error:
        raise BenchError(f"The peer refuses {path}: {error}") from error
