"""The commands of the hub's processes on one machine, for the project's folder."""

import sys

from toolhub.processes.plan import Program


def web(host: str, port: int, *, workers: int, threads: int) -> Program:
    """The pages and the API: `workers` processes of `threads` threads each, served by granian."""
    command = [sys.executable, "-m", "toolhub.entrance", "toolhub.wsgi:application"]
    command += ["--host", host, "--port", str(port), "--workers", str(workers), "--threads", str(threads)]
    return Program("web", command)


def worker(*, concurrency: int, log_level: str) -> Program:
    """Carries out runs of every queue: one process for each of `concurrency` runs."""
    command = [sys.executable, "-m", "toolhub.processes.worker"]
    command += ["--concurrency", str(concurrency), "--log-level", log_level]
    # Checks load every page, which a worker never shows; `make check` runs them.
    return Program("worker", command, {"CELERY_SKIP_CHECKS": "1"})


def steward() -> Program:
    """The standing duties."""
    return Program("steward", [sys.executable, "-m", "django", "steward"])
