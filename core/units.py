"""Durations in words."""


def duration_words(value: float) -> str:
    """A duration given in ms, with its unit: 0.42 ms, 17 ms, 2.5 s, 3 min."""
    if value < 10:
        return f"{value:.2f} ms"
    if value < 1000:
        return f"{value:.0f} ms"
    if value < 60_000:
        return f"{value / 1000:.3g} s"
    if value < 3_600_000:
        return f"{value / 60_000:.3g} min"
    return f"{value / 3_600_000:.3g} h"
