"""The commands of the hub's processes on one machine, for the project's folder."""

import sys

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
