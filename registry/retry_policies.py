"""Retry policies: the four that have names, and what a contract declares in full."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

NO_BACKOFF: Mapping[str, Any] = {"type": "none"}


@dataclass(frozen=True)
class Policy:
    """When an attempt is repeated. `backoff` as in a manifest, in ms; without `retryable` after any code."""

    max_retries: int
    backoff: Mapping[str, Any] = field(default_factory=lambda: NO_BACKOFF)
    retryable: tuple[str, ...] | None = None
    non_retryable: tuple[str, ...] = ()
    retry_if: str = ""

    def as_dict(self) -> dict[str, Any]:
        """As a manifest writes it; what is not set is left out."""
        members = {
            "maxRetries": self.max_retries,
            "backoff": dict(self.backoff),
            "retryableErrors": None if self.retryable is None else list(self.retryable),
            "nonRetryableErrors": list(self.non_retryable) or None,
            "retryIf": self.retry_if or None,
        }
        return {name: value for name, value in members.items() if value is not None}


_TRANSIENT = ("TIMEOUT", "RATE_LIMIT", "NETWORK")
_EXPONENTIAL = {"type": "exponential", "baseDelay": 1000, "maxDelay": 30_000, "multiplier": 2}
_EAGER = {"type": "exponential", "baseDelay": 500, "maxDelay": 60_000, "multiplier": 2}

POLICIES: Mapping[str, Policy] = {
    "NONE": Policy(0),
    "QUICK": Policy(3, {"type": "fixed", "delay": 1000}, _TRANSIENT),
    "STANDARD": Policy(3, _EXPONENTIAL, (*_TRANSIENT, "SERVER_ERROR")),
    "AGGRESSIVE": Policy(
        5, {"type": "jittered", "base": _EAGER, "jitter": 0.1}, (*_TRANSIENT, "SERVER_ERROR", "LOCK")
    ),
}


def policy_read(declared: str | Mapping[str, Any]) -> Policy:
    """The policy that a contract names or writes out."""
    if isinstance(declared, str):
        return POLICIES[declared]
    codes = declared.get("retryableErrors")
    return Policy(
        declared["maxRetries"],
        declared.get("backoff", NO_BACKOFF),
        None if codes is None else tuple(codes),
        tuple(declared.get("nonRetryableErrors", ())),
        declared.get("retryIf", ""),
    )


def policy_words(declared: str | Mapping[str, Any]) -> tuple[str, ...]:
    """The policy as people read it: how often, after which waits, after what."""
    policy = policy_read(declared)
    if not policy.max_retries:
        return ("never",)
    name = f" ({declared})" if isinstance(declared, str) else ""
    times = "once" if policy.max_retries == 1 else f"up to {policy.max_retries} times"
    after = policy.retryable
    return (
        f"{times}{name}, {_wait(policy.backoff)}",
        *(["after any error that may be retried"] if after is None else [f"after {', '.join(after)}"]),
        *([f"not after {', '.join(policy.non_retryable)}"] if policy.non_retryable else []),
        *([f"where {policy.retry_if}"] if policy.retry_if else []),
    )


def _wait(backoff: Mapping[str, Any]) -> str:
    most = f", at most {_seconds(backoff['maxDelay'])}" if "maxDelay" in backoff else ""
    match backoff["type"]:
        case "fixed":
            return f"{_seconds(backoff['delay'])} apart"
        case "linear":
            more = _seconds(backoff["increment"])
            return f"after {_seconds(backoff['baseDelay'])}, then {more} longer each time{most}"
        case "exponential":
            more = f"{backoff['multiplier']:g} times as long each time"
            return f"after {_seconds(backoff['baseDelay'])}, then {more}{most}"
        case "jittered":
            return f"{_wait(backoff['base'])}, varied by {backoff['jitter'] * 100:g} %"
    return "at once"


def _seconds(ms: float) -> str:
    return f"{ms / 1000:g} s"
