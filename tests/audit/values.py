"""A value for each slot of the sentences of events."""

from typing import Any

_VALUES: dict[str, Any] = {
    "expires_at": "2030-01-01T00:00:00+00:00",
    "window_s": 60,
    "delay_ms": 60_000,
    "durationMs": 3,
    "count": 3,
}


def value_of(name: str) -> Any:
    """What a sentence shows of it does not depend on the kind."""
    return _VALUES.get(name, f"some {name}")
