"""The figures as a table for people."""

from statistics import median

from bench.embedded import CALLS, Embedded
from bench.throughput import CLIENTS, PATHS, WORKERS, Throughput


def throughput_lines(found: Throughput) -> list[str]:
    """Speed, ratios, and what a call costs the database."""
    runs = len(found.samples) // len(CLIENTS) // len(PATHS)
    lines = [
        f"Sync execute of echo on {found.database}, {WORKERS} web processes; medians of {runs} runs in turns",
        f"  {'clients':>7}  {'':<6} {'req/s':>8} {'p50 ms':>8} {'p95 ms':>8} {'log B/call':>11}",
    ]
    for clients in CLIENTS:
        for arm in PATHS:
            rate, p50, p95 = (found.median(arm, clients, figure) for figure in ("rate", "p50_ms", "p95_ms"))
            log = f"{found.median(arm, clients, 'wal_bytes'):11.0f}" if found.database == "PostgreSQL" else ""
            lines.append(f"  {clients:>7}  {arm:<6} {rate:8.1f} {p50:8.2f} {p95:8.2f} {log}")
    for clients in CLIENTS:
        faster, longer = (_spread(found.ratios(clients, figure)) for figure in ("rate", "p50_ms"))
        lines.append(f"  echo / floor at {clients}: req/s {faster}; p50 {longer}")
    for arm in PATHS:
        asked = found.asked[arm]
        lines.append(
            f"  {arm}: {len(asked['statements'])} statements, {asked['transactions']} transactions per call"
        )
    return lines


def _spread(ratios: list[float]) -> str:
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def embedded_lines(found: Embedded) -> list[str]:
    """Start, memory and the worker's way."""
    lines = [
        "The hub as `make run` starts it: SQLite, embedded broker",
        f"  start to /readyz 200: {found.first_start_s:.1f} s; the second time {found.second_start_s:.1f} s",
    ]
    for title, figures in (("idle", found.idle_mb), (f"after {CALLS} calls", found.used_mb)):
        parts = ", ".join(f"{name} {size:.0f}" for name, size in sorted(figures.items()))
        lines.append(f"  memory {title}: {sum(figures.values()):.0f} MB PSS ({parts or 'not told here'})")
    p50, p95 = found.worker_p50_ms, found.worker_p95_ms
    return [*lines, f"  respond-async and wait, over the worker: p50 {p50:.0f} ms, p95 {p95:.0f} ms"]
