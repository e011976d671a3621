"""How long to wait before an attempt is repeated."""

import math
import random
from collections.abc import Callable, Mapping
from typing import Any

Chance = Callable[[float, float], float]


def delay_ms(backoff: Mapping[str, Any], failed: int, chance: Chance = random.uniform) -> int:
    """The wait in whole ms after that many failed attempts, counted from 1.

    `chance` gives a number between two; only jittered delays ask it.
    """
    if backoff["type"] == "jittered":
        base = delay_ms(backoff["base"], failed, chance)
        return max(0, round(base + chance(-1.0, 1.0) * base * float(backoff["jitter"])))
    return round(min(_grown(backoff, failed - 1), float(backoff.get("maxDelay", math.inf))))


def _grown(backoff: Mapping[str, Any], times: int) -> float:
    match backoff["type"]:
        case "fixed":
            return float(backoff["delay"])
        case "linear":
            return float(backoff["baseDelay"] + backoff["increment"] * times)
        case "exponential":
            return float(backoff["baseDelay"] * backoff["multiplier"] ** times)
    return 0.0
