"""What Celery itself carries on the same broker: the floor of what workers do."""

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.hub import WORKERS, broker, running, waited
from bench.server import ROOT, ended


@dataclass(frozen=True)
class Celery:
    """A running worker of raw Celery; each task adds a byte to a file."""

    environment: Mapping[str, str]
    file: Path

    def rate(self, calls: int) -> float:
        """Tasks per second, from the first sending until as many have run."""
        goal = (self.file.stat().st_size if self.file.exists() else 0) + calls
        sender = subprocess.Popen(
            [sys.executable, "-m", "bench.celery_send", str(calls)],
            cwd=ROOT,
            env=dict(self.environment),
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        with ended(sender):
            assert sender.stdout
            begun = float(sender.stdout.readline())
            waited(lambda: self.file.exists() and self.file.stat().st_size >= goal, "tasks")
            return calls / (time.monotonic() - begun)


@contextlib.contextmanager
def started(environment: Mapping[str, str], folder: Path) -> Iterator[Celery]:
    """A worker with as many processes as the hub's, on a queue of its own."""
    file = folder / "celery.noted"
    queue = f"{environment['TOOLHUB_QUEUE_PREFIX']}floor"
    own = {**environment, "BENCH_BROKER_URL": broker(), "BENCH_QUEUE": queue, "BENCH_FILE": str(file)}
    command = [sys.executable, "-m", "celery", "--quiet", "-A", "bench.celery_floor", "worker"]
    command += ["--pool", "prefork", "--concurrency", str(WORKERS), "--prefetch-multiplier", "1"]
    command += ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "WARNING"]
    command += ["--queues", queue]
    with running(command, own, folder / "celery.log"):
        yield Celery(own, file)
