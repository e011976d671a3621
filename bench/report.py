"""The figures as tables for people."""

from collections.abc import Mapping
from statistics import median

from bench.arms import ARMS, ONE, Arm, Goal
from bench.embedded import CALLS, MEMORY_MB, Embedded
from bench.hub import WEB_PROCESSES, WORKERS
from bench.throughput import Throughput

# Title, figure of a sample, and its form; the last two are per call.
COLUMNS = {
    "req/s": ("rate", ".1f"),
    "p50 ms": ("p50_ms", ".2f"),
    "p95 ms": ("p95_ms", ".2f"),
    "web CPU ms": ("cpu_ms", ".2f"),
    "log bytes": ("wal_bytes", ".0f"),
}
# What an arm keeps of its rate beside the other checkout.
KEPT = Goal("rate", 0.95)


def throughput_lines(found: Throughput) -> list[str]:
    """Speed, ratios with their goals, and what a call costs the database."""
    measured = _measured(found)
    lines = [
        f"Calls on {found.database}, {WEB_PROCESSES} web processes, a worker of {WORKERS};",
        f"medians of {found.rounds} rounds, in which the arms take turns",
    ]
    if found.durability:
        version, *rest = found.durability.items()
        lines.append(f"  PostgreSQL {version[1]}: {', '.join(' '.join(each) for each in rest)}")
    lines += [f"  {note}" for note in dict.fromkeys(found.notes)]
    lines += [f"  {name:<15}{arm.title}" for name, arm in measured.items()]
    lines.append(f"  {'clients':>7}  {'':<24}{''.join(f'{title:>11}' for title in COLUMNS)}")
    for name, arm in measured.items():
        for clients in arm.clients:
            for side in found.sides:
                if found.median(side, name, clients, "rate") is not None:
                    lines.append(_row(found, side, name, clients))
    for name, arm in measured.items():
        lines += _ratio_lines(found, name, arm)
    for name, asked in found.asked.items():
        if name in measured:
            counts = f"{asked['statements']} statements, {asked['transactions']} transactions per call"
            lines.append(f"  {name}: {counts}")
    return lines


def _measured(found: Throughput) -> Mapping[str, Arm]:
    names = {sample.arm for sample in found.samples}
    return {name: arm for name, arm in ARMS.items() if name in names}


def _row(found: Throughput, side: str, name: str, clients: int) -> str:
    cells = []
    for figure, form in COLUMNS.values():
        value = found.median(side, name, clients, figure)
        cells.append(f"{'-':>11}" if value is None else f"{value:11{form}}")
    title = name if len(found.sides) == 1 else f"{name} {side}"
    return f"  {clients:>7}  {title:<24}{''.join(cells)}"


def _ratio_lines(found: Throughput, name: str, arm: Arm) -> list[str]:
    """An arm against the other that it names, its absolute goals, and against the other checkout."""
    lines = []
    for clients in arm.clients:
        # One client's rate says the same as its latency.
        figure, title = ("p50_ms", "p50") if clients == ONE else ("rate", "req/s")
        if arm.against and (ratios := found.ratios(name, arm.against, clients, figure)):
            verdict = _verdict(_goal(arm, figure, clients), ratios)
            lines.append(f"  {name} / {arm.against} at {clients}: {title} {_spread(ratios)}{verdict}")
        value = found.median(found.sides[0], name, clients, figure)
        if value is not None and (goal := _goal(arm, figure, clients, is_absolute=True)):
            lines.append(f"  {name} at {clients}: {title} {value:.1f} ms{_verdict(goal, [value])}")
        if len(found.sides) > 1 and (ratios := found.ratios_of_sides(name, clients, "rate")):
            sides = f"{name}, {' / '.join(found.sides)} at {clients}"
            lines.append(f"  {sides}: req/s {_spread(ratios)}{_verdict(KEPT, ratios)}")
    return lines


def _goal(arm: Arm, figure: str, clients: int, *, is_absolute: bool = False) -> Goal | None:
    wanted = (figure, clients, is_absolute)
    return next((one for one in arm.goals if (one.figure, one.clients, one.is_absolute) == wanted), None)


def _verdict(goal: Goal | None, values: list[float]) -> str:
    if goal is None:
        return ""
    bound = f"{'at least' if goal.figure == 'rate' else 'at most'} {goal.bound:g}"
    return f"; goal {bound}: {'met' if goal.is_met(median(values)) else 'MISSED'}"


def _spread(ratios: list[float]) -> str:
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def embedded_lines(found: Embedded) -> list[str]:
    """Start, memory and the worker's way."""
    lines = [f"The hub as `make run` starts it: {found.shape}"]
    for title, seconds, busy in (
        ("first", found.first_start_s, found.first_cpu_s),
        ("second", found.second_start_s, found.second_cpu_s),
    ):
        lines.append(f"  {title} start to /readyz 200: {seconds:.1f} s ({busy:.1f} s of processor time)")
    goal = Goal("memory_mb", MEMORY_MB)
    for title, figures, bound in (
        ("idle", found.idle_mb, None),
        (f"after {CALLS} calls by REST and by MCP", found.used_mb, goal),
    ):
        parts = ", ".join(f"{name} {size:.0f}" for name, size in sorted(figures.items()))
        whole = sum(figures.values())
        verdict = _verdict(bound, [whole]) if figures else ""
        lines.append(f"  memory {title}: {whole:.0f} MB PSS ({parts or 'not told here'}){verdict}")
    p50, p95 = found.worker_p50_ms, found.worker_p95_ms
    return [*lines, f"  respond-async and wait, over the worker: p50 {p50:.0f} ms, p95 {p95:.0f} ms"]
