"""What one decision takes, warm: may this call be made, and why (not)? On values, as each call asks it."""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from bench.load import BenchError
from bench.server import clean_environment

TITLES = {
    "plain": "a tool that needs nothing",
    "usual": "two capabilities of 20 grants, a path condition, 5 rules, 2 limits",
    "denied": "the same, without the capability",
    "heavy": "200 grants, 100 rules, 20 limits, CEL, arguments searched for attacks",
}
P50_MAX_MS = 1.0


@dataclass
class Decisions:
    """Microseconds by case: `{p50, p99}`."""

    times: dict[str, dict[str, float]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def measure(folder: Path, *, rounds: int) -> Decisions:
    """Runs `bench_decision` in a process of its own. A median of more than P50_MAX_MS is a fault."""
    command = [sys.executable, "manage.py", "bench_decision", "--rounds", str(rounds)]
    environment = {**clean_environment(folder / "decisions"), "DJANGO_SETTINGS_MODULE": "bench.settings"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        raise BenchError(f"bench_decision ended with {done.returncode}: {done.stderr[-500:]}")
    times = json.loads(done.stdout)
    return Decisions(times, faults_of(times))


def faults_of(times: dict[str, dict[str, float]]) -> list[str]:
    """A line for each case whose median is above P50_MAX_MS."""
    return [
        f"A decision ({TITLES[name]}) takes {case['p50'] / 1000:.2f} ms at the median, not {P50_MAX_MS:g}."
        for name, case in times.items()
        if case["p50"] / 1000 > P50_MAX_MS
    ]


def decision_lines(found: Decisions) -> list[str]:
    """The table."""
    lines = [f"One decision, warm, in one thread; its median stays under {P50_MAX_MS:g} ms"]
    for name, case in found.times.items():
        lines.append(f"  {TITLES[name]:<72}p50 {case['p50']:7.1f} µs   p99 {case['p99']:7.1f} µs")
    return lines
