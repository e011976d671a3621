"""`make bench`, or `python -m bench --help`. Listens and calls on 127.0.0.1 only.

The whole takes at most MINUTES: a part that is slow here does fewer rounds.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench import decision, embedded, history, peer, report, sandboxes, throughput, waiting
from bench.arms import ARMS, chosen
from bench.budget import Budget
from bench.database import own_database
from bench.load import BenchError

MINUTES = 15.0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench",
        description=f"Measures speed, start and memory of the hub, in at most {MINUTES:g} minutes.",
        epilog=f"The arms: {'; '.join(f'{name}: {arm.title}' for name, arm in ARMS.items())}.",
    )
    parser.add_argument("--rounds", type=int, default=8, help="the most runs of each arm (default 8)")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of one run, in s (default 2)")
    parser.add_argument("--only", choices=(*PARTS, *LONG), help="leave the other parts out")
    parser.add_argument(
        "--arms", default="", help="only these arms of calls, and what they are compared with: echo,mcp"
    )
    parser.add_argument(
        "--beside", default="", metavar="COMMIT", help="measure the arms of another commit, too, by turns"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there, too")
    given = parser.parse_args()
    if given.rounds < 1 or given.seconds <= 0:
        parser.error("--rounds must be at least 1 and --seconds above 0")
    if given.arms or given.beside:
        if given.only not in (None, "calls"):
            parser.error("--arms and --beside are for the part calls")
        given.only = "calls"
    try:
        given.arms = chosen([name for name in given.arms.split(",") if name]) if given.arms else ARMS
    except ValueError as error:
        parser.error(str(error))
    return given


Figures = tuple[dict[str, Any], list[str]]
Part = Callable[[argparse.Namespace, Path, Budget], Figures]


def say(lines: list[str]) -> None:
    print(*lines, sep="\n", end="\n\n", flush=True)


def calls(given: argparse.Namespace, folder: Path, budget: Budget) -> Figures:
    """Figures and faults of the arms of calls; prints them."""
    found = throughput.measure(
        given.arms, folder, budget, rounds=given.rounds, seconds=given.seconds, beside=given.beside
    )
    say(report.throughput_lines(found))
    return asdict(found), found.faults


def start(_given: argparse.Namespace, folder: Path, _budget: Budget) -> Figures:
    """Figures and faults of the whole hub on SQLite; prints them."""
    found = embedded.measure(folder)
    say(report.embedded_lines(found))
    return asdict(found), found.faults


def memory(_given: argparse.Namespace, folder: Path, _budget: Budget) -> Figures:
    """The same on PostgreSQL."""
    with own_database() as database:
        if database.missing:
            say([f"No PostgreSQL here ({database.missing}); the hub on it is not measured."])
            return {}, []
        found = embedded.measure(folder, database)
    say(report.embedded_lines(found))
    return asdict(found), found.faults


def waiters(given: argparse.Namespace, folder: Path, budget: Budget) -> Figures:
    """Figures and faults of calls beside a crowd that waits; prints them."""
    with own_database() as database:
        if database.missing:
            say([f"No PostgreSQL here ({database.missing}); the crowd is not measured."])
            return {}, []
        found = waiting.measure(database, folder, budget, rounds=given.rounds, seconds=given.seconds)
    say(waiting.waiting_lines(found))
    return asdict(found), found.faults


def old(given: argparse.Namespace, folder: Path, _budget: Budget) -> Figures:
    """Figures and faults of a hub with a million old runs against a new one; prints them."""
    with own_database("new") as new, own_database("old") as aged:
        if new.missing:
            say([f"No PostgreSQL here ({new.missing}); a hub with many old runs is not measured."])
            return {}, []
        found = history.measure(new, aged, folder, rounds=given.rounds)
    say(history.history_lines(found))
    return asdict(found), found.faults


def peers(given: argparse.Namespace, folder: Path, _budget: Budget) -> Figures:
    """Figures and faults of a tool that asks a server, beside a peer; prints them."""
    with own_database("web") as own, own_database("peer") as other:
        if own.missing:
            say([f"No PostgreSQL here ({own.missing}); the peer is not measured."])
            return {}, []
        found = peer.measure(own, other, folder, rounds=given.rounds, seconds=given.seconds)
    say(peer.peer_lines(found))
    return asdict(found), found.faults


def sandbox(given: argparse.Namespace, folder: Path, _budget: Budget) -> Figures:
    """Figures of starts in a sandbox; prints them."""
    found = sandboxes.measure(folder, rounds=3 * given.rounds)
    say(sandboxes.sandboxes_lines(found))
    return asdict(found), found.faults


def decisions(given: argparse.Namespace, folder: Path, _budget: Budget) -> Figures:
    """Figures and faults of decisions on values; prints them."""
    found = decision.measure(folder, rounds=given.rounds)
    say(decision.decision_lines(found))
    return asdict(found), found.faults


# In this order, with the share of the time that is left which each may take.
PARTS: dict[str, tuple[Part, float]] = {
    "decision": (decisions, 1.0),
    "calls": (calls, 0.65),
    "waiters": (waiters, 0.4),
    "start": (start, 1.0),
    "memory": (memory, 1.0),
    "sandbox": (sandbox, 1.0),
}
# Only when they are asked for: minutes and 3 GB of the server's disk, and another product to install.
LONG: dict[str, tuple[Part, float]] = {"history": (old, 1.0), "peer": (peers, 1.0)}


def main() -> int:
    given = arguments()
    figures: dict[str, Any] = {}
    faults: list[str] = []
    budget = Budget(MINUTES * 60)
    with tempfile.TemporaryDirectory(prefix="toolhub-bench-") as folder:
        for name, (part, share) in (LONG if given.only in LONG else PARTS).items():
            if given.only not in (None, name):
                continue
            try:
                mine = budget.part(1.0 if given.only else share)
                figures[name], wrong = part(given, Path(folder), mine)
                faults += wrong
            except BenchError as error:
                faults.append(str(error))
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n")
    for fault in faults:
        print(f"FAILED: {fault}")
    if not faults:
        print("Rows equal calls: one run, one attempt, two ledger events and one outcome for each answer.")
    print(f"This took {budget.spent_s / 60:.1f} min.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
