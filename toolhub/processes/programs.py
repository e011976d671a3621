"""The commands of the hub's processes on one machine."""

import sys
from pathlib import Path

from toolhub.processes.plan import Program

# Of one web process, at once.
CONNECTIONS = 4096


def web(host: str, port: int, *, workers: int, threads: int) -> Program:
    """The pages and the API: granian, WSGI, `workers` processes of `threads` threads each."""
    command = [sys.executable, "-m", "granian", "toolhub.wsgi:application", "--interface", "wsgi"]
    command += ["--host", host, "--port", str(port), "--workers", str(workers)]
    command += ["--blocking-threads", str(threads), "--no-access-log", "--log-level", "error"]
    # Granian counts connections there, idle ones too: by its default a thousand of them keep all others out.
    command += ["--backlog", str(CONNECTIONS), "--backpressure", str(CONNECTIONS)]
    command += ["--respawn-failed-workers", "--workers-kill-timeout", "8", "--no-ws"]
    return Program("web", command, {"TOOLHUB_WEB_PROCESS": "on"})


def worker(*, concurrency: int, log_level: str) -> Program:
    """Carries out runs: celery, every queue, one process for each of `concurrency` runs."""
    # As root in a container celery warns at every start; the tools' code is held by the sandbox, not by it.
    command = [sys.executable, "-W", "ignore:You're running the worker with superuser", "-m", "celery"]
    command += ["--quiet", "-A", "toolhub", "worker", "--pool", "prefork"]
    command += ["--concurrency", str(concurrency), "--prefetch-multiplier", "1"]
    command += ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", log_level]
    # Checks load every page, which a worker never shows; `make check` runs them.
    return Program("worker", command, {"CELERY_SKIP_CHECKS": "1"})


def steward(root: Path) -> Program:
    """The standing duties."""
    return Program("steward", [sys.executable, str(root / "manage.py"), "steward"])
