"""`python -m toolhub.processes.worker`: carries out runs of every queue, until it is told to end.

Celery's worker without Celery's command line, which loads an editor for terminals.
"""

import os
import sys
from argparse import ArgumentParser

from celery.utils.log import mlevel

from toolhub.celery import app

POOL = "prefork"
# Added to the niceness of a worker and of all that it starts: under load the web processes, which answer
# cheap calls themselves, come first.
NICE = 5


def main() -> int:
    """Gives the exit status."""
    parser = ArgumentParser(description="Carries out runs.")
    parser.add_argument("--concurrency", type=int, required=True, help="runs at once, each in a process")
    parser.add_argument("--log-level", default="INFO", help="how much is logged")
    given = parser.parse_args()
    os.nice(NICE)
    worker = app.Worker(
        pool_cls=POOL,
        concurrency=given.concurrency,
        prefetch_multiplier=1,
        loglevel=mlevel(given.log_level),
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    return worker.exitcode or 0


if __name__ == "__main__":
    sys.exit(main())
