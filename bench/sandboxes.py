"""What a sandbox costs: a start of Python in it, cold and warm, against plain bubblewrap and plain Python."""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from bench.load import BenchError
from bench.server import clean_environment

TITLES = {
    "python": "plain Python",
    "bwrap": "plain bubblewrap and Python (floor)",
    "isolated": "isolated, cold",
    "confined": "confined, cold",
    "warm": "isolated, warm (forked by a zygote)",
    "wasm": "the same with a cached WebAssembly module",
}


@dataclass
class Sandboxes:
    """Medians in ms by arm; what one program that waits takes, in MB."""

    times: dict[str, float] = field(default_factory=dict)
    idle_mb: dict[str, float] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def measure(folder: Path, *, rounds: int) -> Sandboxes:
    """Runs `bench_sandbox` in a process of its own."""
    command = [sys.executable, "manage.py", "bench_sandbox", "--rounds", str(rounds)]
    environment = {**clean_environment(folder / "sandboxes"), "DJANGO_SETTINGS_MODULE": "bench.settings"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        raise BenchError(f"bench_sandbox ended with {done.returncode}: {done.stderr[-500:]}")
    return Sandboxes(**json.loads(done.stdout))


def sandboxes_lines(found: Sandboxes) -> list[str]:
    """The table."""
    lines = ["One start of Python that reads nothing, medians, in turns"]
    floor = found.times.get("bwrap")
    for name, title in TITLES.items():
        if name in found.times:
            ratio = f"{found.times[name] / floor:6.2f} × the floor" if floor else ""
            lines.append(f"  {title:<45}{found.times[name]:8.1f} ms {ratio}")
    parts = ", ".join(f"{name} {size:.1f}" for name, size in found.idle_mb.items())
    return [*lines, f"  memory of one that waits: {sum(found.idle_mb.values()):.1f} MB PSS ({parts})"]
