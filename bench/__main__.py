"""`make bench`, or `python -m bench --help`. Listens and calls on 127.0.0.1 only."""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench import decision, embedded, history, peer, queue, report, sandboxes, throughput, waiting
from bench.database import own_database
from bench.load import BenchError


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description="Measures speed, start and memory of the hub.")
    parser.add_argument("--rounds", type=int, default=8, help="runs of each arm (default 8)")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of one run, in s (default 2)")
    parser.add_argument("--only", choices=(*PARTS, *LONG), help="leave the other parts out")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there, too")
    given = parser.parse_args()
    if given.rounds < 1 or given.seconds <= 0:
        parser.error("--rounds must be at least 1 and --seconds above 0")
    return given


Part = Callable[[argparse.Namespace, Path], tuple[dict[str, Any], list[str]]]


def say(lines: list[str]) -> None:
    print(*lines, sep="\n", end="\n\n", flush=True)


def speed(given: argparse.Namespace, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Figures and faults of product against floor; prints them."""
    with own_database() as database:
        if database.missing:
            say([f"No PostgreSQL here ({database.missing}); SQLite is measured instead."])
        found = throughput.measure(database, folder, rounds=given.rounds, seconds=given.seconds)
    say(report.throughput_lines(found))
    return found.as_dict(), found.faults


def start(_given: argparse.Namespace, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Figures and faults of the whole hub; prints them."""
    found = embedded.measure(folder)
    say(report.embedded_lines(found))
    return asdict(found), found.faults


def workers(given: argparse.Namespace, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Figures and faults of the way over the workers against raw Celery; prints them."""
    with own_database() as database:
        if database.missing:
            say([f"No PostgreSQL here ({database.missing}); the way over the workers is not measured."])
            return {}, []
        found = queue.measure(database, folder, rounds=given.rounds)
    say(queue.queue_lines(found))
    return asdict(found), found.faults


def waiters(given: argparse.Namespace, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Figures and faults of calls beside a crowd that waits; prints them."""
    with own_database() as database:
        if database.missing:
            say([f"No PostgreSQL here ({database.missing}); the crowd is not measured."])
            return {}, []
        found = waiting.measure(database, folder, rounds=given.rounds, seconds=given.seconds)
    say(waiting.waiting_lines(found))
    return asdict(found), found.faults


def old(given: argparse.Namespace, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Figures and faults of a hub with a million old runs against a new one; prints them."""
    with own_database("new") as new, own_database("old") as aged:
        if new.missing:
            say([f"No PostgreSQL here ({new.missing}); a hub with many old runs is not measured."])
            return {}, []
        found = history.measure(new, aged, folder, rounds=given.rounds)
    say(history.history_lines(found))
    return asdict(found), found.faults


def beside(given: argparse.Namespace, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Figures and faults of a tool that asks a server, beside a peer; prints them."""
    with own_database("web") as own, own_database("peer") as peers:
        if own.missing:
            say([f"No PostgreSQL here ({own.missing}); the peer is not measured."])
            return {}, []
        found = peer.measure(own, peers, folder, rounds=given.rounds, seconds=given.seconds)
    say(peer.peer_lines(found))
    return asdict(found), found.faults


def sandbox(given: argparse.Namespace, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Figures of starts in a sandbox; prints them."""
    found = sandboxes.measure(folder, rounds=3 * given.rounds)
    say(sandboxes.sandboxes_lines(found))
    return asdict(found), found.faults


def decisions(given: argparse.Namespace, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Figures and faults of decisions on values; prints them."""
    found = decision.measure(folder, rounds=given.rounds)
    say(decision.decision_lines(found))
    return asdict(found), found.faults


PARTS: dict[str, Part] = {
    "decision": decisions,
    "speed": speed,
    "workers": workers,
    "waiters": waiters,
    "start": start,
    "sandbox": sandbox,
}
# Only when they are asked for: minutes and 3 GB of the server's disk, and another product to install.
LONG: dict[str, Part] = {"history": old, "peer": beside}


def main() -> int:
    given = arguments()
    figures: dict[str, Any] = {}
    faults: list[str] = []
    with tempfile.TemporaryDirectory(prefix="toolhub-bench-") as folder:
        for name, part in (LONG if given.only in LONG else PARTS).items():
            if given.only not in (None, name):
                continue
            try:
                figures[name], wrong = part(given, Path(folder))
                faults += wrong
            except BenchError as error:
                faults.append(str(error))
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n")
    for fault in faults:
        print(f"FAILED: {fault}")
    if not faults:
        print("Rows equal calls: one run, one attempt, two ledger events and one outcome for each answer.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
