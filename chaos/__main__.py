"""`make chaos`, or `python -m chaos --help`. Listens and calls on 127.0.0.1 only."""

import argparse
import json
import secrets
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from chaos.faults import PROCESSES, SERVICES, Planter
from chaos.hub import Hub, running
from chaos.load import Approver, Clients
from chaos.postgres import PostgresMissing
from chaos.receiver import Callbacks, receiving
from chaos.services import BROKERS
from chaos.verdict import Verdict, executions_of, verdict

CLIENTS = 12
# Calls are answered, and runs closed, within so many seconds after the last fault.
SETTLE_S = 600.0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="chaos", description="Plants faults in a hub under load; counts.")
    parser.add_argument("--seconds", type=float, default=90.0, help="length of the load, in s (default 90)")
    parser.add_argument("--seed", type=int, help="plants the same faults and makes the same calls again")
    parser.add_argument("--lease", type=int, default=4, help="lease of a run, in s (default 4)")
    parser.add_argument("--broker", choices=tuple(BROKERS), default="redis", help="embedded: with SQLite")
    parser.add_argument("--no-fsync", action="store_true", help="PostgreSQL does not wait for the disk")
    parser.add_argument("--log", type=Path, metavar="FOLDER", help="keep what the processes say there")
    given = parser.parse_args()
    if given.seconds <= 0 or given.lease < 3:
        parser.error("--seconds must be above 0 and --lease at least 3")
    return given


def storm(
    hub: Hub, seed: int, seconds: float, callbacks: Callbacks
) -> tuple[Verdict, Counter[str], Counter[int]]:
    """Load and faults for so long, then rest; what became of all calls, the faults planted, the answers."""
    begun = time.monotonic()

    def tell(name: str) -> None:
        print(f"{time.monotonic() - begun:6.1f} s  {name}", flush=True)

    if hub.no_sandbox:
        tell(f"no tool runs in the sandbox here: {hub.no_sandbox}")
    clients, approver = Clients(hub, seed, CLIENTS, callbacks.url), Approver(hub)
    planters = [
        Planter(hub, faults, Random(f"{seed}:{kind}"), tell)
        for kind, faults in (("processes", PROCESSES), ("services", SERVICES))
    ]
    time.sleep(seconds)
    for planter in planters:
        planter.end()
    tell("the last fault is over")
    clients.end(SETTLE_S)
    kept = json.loads(hub.count(SETTLE_S))
    approver.end()
    found = verdict(kept, clients.told, executions_of(hub.world), callbacks.messages)
    tell("every run is closed, or given up")
    for planter in planters:
        found.faults.extend(planter.broken)
    return found, sum((planter.planted for planter in planters), Counter()), clients.answers


def report(found: Verdict, planted: Counter[str], answers: Counter[int]) -> list[str]:
    """The counts, a line each."""

    def counted(counts: Counter[str]) -> str:
        return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))

    said = Counter({str(status) if status else "no answer": count for status, count in answers.items()})
    times = Counter({f"{often} times": count for often, count in found.executions.items()})
    return [
        f"faults planted      {counted(planted)}",
        f"answers             {counted(said)}",
        f"accepted runs       {found.accepted}",
        f"outcomes            {found.outcomes} ({counted(found.by_end)})",
        f"executions per run  {counted(times)} (of the tools that leave a trace)",
        f"outcome unknown     {found.unknown}",
        f"late finishes       {found.late}",
    ]


def main() -> int:
    given = arguments()
    # So that all processes end with this one.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    seed = given.seed if given.seed is not None else secrets.randbelow(1_000_000)
    words = f"--seconds {given.seconds:g} --broker {given.broker} --lease {given.lease} --seed {seed}"
    print(f"python -m chaos {words}", flush=True)
    with tempfile.TemporaryDirectory(prefix="toolhub-chaos-") as temporary:
        folder = given.log or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            hub_runs = running(folder, given.broker, given.lease, fsync=not given.no_fsync, wide=True)
            with hub_runs as hub, receiving() as callbacks:
                found, planted, answers = storm(hub, seed, given.seconds, callbacks)
        except PostgresMissing as error:
            print(f"FAILED: {error}.")
            return 1
    print(*report(found, planted, answers), sep="\n")
    for fault in found.faults:
        print(f"FAILED: {fault}")
    if not found.accepted or not found.outcomes:
        print("FAILED: nothing was carried out.")
        return 1
    if not found.faults:
        print("No run is lost, none has two outcomes, and no effect that may not be repeated was.")
    return 1 if found.faults else 0


if __name__ == "__main__":
    sys.exit(main())
