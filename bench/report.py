"""The figures as a table for people."""

from statistics import median

from bench.embedded import CALLS, Embedded
from bench.throughput import ARMS, CLIENTS, PATHS, WORKERS, Throughput

# Title, figure of a sample, and its form; the last two are per call.
COLUMNS = {
    "req/s": ("rate", ".1f"),
    "p50 ms": ("p50_ms", ".2f"),
    "p95 ms": ("p95_ms", ".2f"),
    "web CPU ms": ("cpu_ms", ".2f"),
    "log bytes": ("wal_bytes", ".0f"),
}


def throughput_lines(found: Throughput) -> list[str]:
    """Speed, ratios, and what a call costs the database."""
    runs = len(found.samples) // len(CLIENTS) // len(PATHS)
    lines = [
        f"Sync execute of echo on {found.database}, {WORKERS} web processes; medians of {runs} runs in turns",
        f"  {'clients':>7}  {'':<6}{''.join(f'{title:>11}' for title in COLUMNS)}",
    ]
    for clients in CLIENTS:
        for arm in PATHS:
            cells = [
                f"{found.median(arm, clients, figure):11{form}}" if found.has(figure) else f"{'-':>11}"
                for figure, form in COLUMNS.values()
            ]
            lines.append(f"  {clients:>7}  {arm:<6}{''.join(cells)}")
    for arm in ARMS:
        for clients in CLIENTS:
            faster, longer = (_spread(found.ratios(arm, clients, figure)) for figure in ("rate", "p50_ms"))
            lines.append(f"  {arm} / floor at {clients}: req/s {faster}; p50 {longer}")
    for arm in PATHS:
        asked = found.asked[arm]
        lines.append(
            f"  {arm}: {asked['statements']} statements, {asked['transactions']} transactions per call"
        )
    return lines


def _spread(ratios: list[float]) -> str:
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def embedded_lines(found: Embedded) -> list[str]:
    """Start, memory and the worker's way."""
    lines = ["The hub as `make run` starts it: SQLite, embedded broker"]
    for title, seconds, busy in (
        ("first", found.first_start_s, found.first_cpu_s),
        ("second", found.second_start_s, found.second_cpu_s),
    ):
        lines.append(f"  {title} start to /readyz 200: {seconds:.1f} s ({busy:.1f} s of processor time)")
    for title, figures in (("idle", found.idle_mb), (f"after {CALLS} calls", found.used_mb)):
        parts = ", ".join(f"{name} {size:.0f}" for name, size in sorted(figures.items()))
        lines.append(f"  memory {title}: {sum(figures.values()):.0f} MB PSS ({parts or 'not told here'})")
    p50, p95 = found.worker_p50_ms, found.worker_p95_ms
    return [*lines, f"  respond-async and wait, over the worker: p50 {p50:.0f} ms, p95 {p95:.0f} ms"]
